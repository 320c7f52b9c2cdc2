//! The names that Rust accepts in a workload, taken from the code that reads them.
//!
//! Each type is read from a source without a document. The source notes which fields or variants the type asks for, and
//! then fails. So the names cannot drift from the code, and the test that compares them with Python's names proves something.

use std::collections::BTreeMap;
use std::fmt;

use pyo3::prelude::*;
use serde::Serialize;
use serde::de::value::StrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use workload::spec;

use crate::json;

/// Names of fields and variants that Rust accepts.
#[derive(Debug, Default, Serialize)]
struct Schema {
    structs: BTreeMap<&'static str, Vec<&'static str>>,
    enums: BTreeMap<&'static str, BTreeMap<&'static str, Vec<&'static str>>>,
}

/// Return `{"structs": {name: [field]}, "enums": {name: {variant: [field]}}}`.
#[pyfunction]
pub(crate) fn workload_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let mut schema = Schema::default();
    note::<spec::Workload>(&mut schema);
    note::<spec::Stream>(&mut schema);
    note::<spec::Ops>(&mut schema);
    note::<spec::BlockWeight>(&mut schema);
    note::<spec::Span>(&mut schema);
    note::<spec::Pattern>(&mut schema);
    note::<spec::Band>(&mut schema);
    note::<spec::Engine>(&mut schema);
    note::<spec::Flush>(&mut schema);
    note::<spec::Arrival>(&mut schema);
    note::<spec::Process>(&mut schema);
    note::<spec::Rate>(&mut schema);
    note::<spec::Stop>(&mut schema);
    json::to_python(py, &schema)
}

fn note<'de, T: Deserialize<'de>>(schema: &mut Schema) {
    let mut variants = 1;
    let mut next = 0;
    while next < variants {
        let mut asked = Asked::default();
        // Reading always fails; only what the type asked for on the way counts.
        let _ = T::deserialize(Listener {
            asked: &mut asked,
            variant: next,
        });
        match asked {
            Asked {
                name,
                fields,
                variants: None,
            } => {
                schema.structs.insert(name, fields);
                return;
            }
            Asked {
                name,
                fields,
                variants: Some(names),
            } => {
                schema
                    .enums
                    .entry(name)
                    .or_default()
                    .insert(names[next], fields);
                variants = names.len();
            }
        }
        next += 1;
    }
}

#[derive(Debug, Default)]
struct Asked {
    name: &'static str,
    fields: Vec<&'static str>,
    variants: Option<&'static [&'static str]>,
}

/// A source without a document, which gives an enum its `variant`-th name.
struct Listener<'a> {
    asked: &'a mut Asked,
    variant: usize,
}

/// The error that ends the reading.
#[derive(Debug)]
struct Noted;

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("noted")
    }
}

impl std::error::Error for Noted {}

impl de::Error for Noted {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Noted;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Noted> {
        Err(Noted)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Noted> {
        self.asked.name = name;
        self.asked.fields = fields.to_vec();
        Err(Noted)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Noted> {
        self.asked.name = name;
        self.asked.variants = Some(variants);
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Listener<'_> {
    type Error = Noted;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Noted> {
        let name = self
            .asked
            .variants
            .and_then(|names| names.get(self.variant))
            .ok_or(Noted)?;
        let name: StrDeserializer<'_, Noted> = de::IntoDeserializer::into_deserializer(*name);
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Listener<'_> {
    type Error = Noted;

    fn unit_variant(self) -> Result<(), Noted> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, Noted> {
        Err(Noted)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Noted> {
        Err(Noted)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Noted> {
        self.asked.fields = fields.to_vec();
        Err(Noted)
    }
}
