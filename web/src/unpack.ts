/**
 * Unpacks a column written by `ssdlab/report/packing.py`: unsigned 32-bit integers, split into four planes (all low bytes first),
 * compressed with gzip, in base64. Planes compress far better than whole integers, and the values come back exactly.
 */

export async function unpack(packed: string): Promise<Uint32Array> {
  const raw = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = planes.length / 4;
  const values = new Uint32Array(count);
  const [first, second, third, fourth] = [0, 1, 2, 3].map((plane) => planes.subarray(plane * count, (plane + 1) * count)) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  for (let index = 0; index < count; index++) {
    values[index] = ((first[index] ?? 0) | ((second[index] ?? 0) << 8) | ((third[index] ?? 0) << 16) | ((fourth[index] ?? 0) << 24)) >>> 0;
  }
  return values;
}
