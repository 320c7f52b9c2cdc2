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
  for (let index = 0; index < count; index++) {
    const byte = (plane: number) => planes[plane * count + index] ?? 0;
    values[index] = (byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)) >>> 0;
  }
  return values;
}
