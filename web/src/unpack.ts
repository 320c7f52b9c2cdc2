/**
 * Unpacks a column written by `ssdlab/report/charts.py`: unsigned 32-bit integers, split into four planes (all low bytes first),
 * compressed with gzip, in base64. Planes compress far better than whole integers, and the values come back exactly.
 */

/** The values of a column, each times `unit`. Plain loops: a callback for each of a day's seconds takes longer than all the rest. */
export async function unpack(packed: string, unit: number): Promise<Float64Array> {
  const planes = new Uint8Array(await inflated(packed));
  const count = planes.length / 4;
  const values = new Float64Array(count);
  const [first, second, third, fourth] = [0, 1, 2, 3].map((plane) => planes.subarray(plane * count, (plane + 1) * count)) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  for (let index = 0; index < count; index++) {
    const value = ((first[index] ?? 0) | ((second[index] ?? 0) << 8) | ((third[index] ?? 0) << 16) | ((fourth[index] ?? 0) << 24)) >>> 0;
    values[index] = value * unit;
  }
  return values;
}

/** Decodes base64 and decompresses gzip. */
export async function inflated(packed: string): Promise<ArrayBuffer> {
  const text = atob(packed);
  const raw = new Uint8Array(text.length);
  for (let index = 0; index < raw.length; index++) raw[index] = text.charCodeAt(index);
  const gunzip = new DecompressionStream("gzip");
  const writer = gunzip.writable.getWriter();
  // Not waited for: it ends when all is read. A fault of either is one of the reading too.
  void writer.write(raw).catch(() => undefined);
  void writer.close().catch(() => undefined);
  return new Response(gunzip.readable).arrayBuffer();
}
