/** Writes Avro object container files, so that tests can make files of any values, and such that no program writes. */

/** A whole number of variable length, of up to 64 bits. */
export function avroLong(value: number | bigint): Buffer {
  const bytes: number[] = []
  const whole = BigInt(value)
  let left = BigInt.asUintN(64, (whole << 1n) ^ (whole >> 63n))
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128)
  return Buffer.from([...bytes, Number(left)])
}

/** A text, or bytes, behind their length. */
export const avroBytes = (value: string | Buffer): Buffer =>
  Buffer.concat([avroLong(Buffer.from(value).length), Buffer.from(value)])

/** The end of each block of `avroOf`. */
const sync = Buffer.alloc(16, 7)

/**
 * A file.
 * @param schema as JSON, or its text
 * @param blocks number of rows of each block, packed with the codec
 */
export function avroOf(
  schema: unknown,
  blocks: readonly (readonly [count: number, bytes: Buffer])[],
  codec = 'null',
): Buffer {
  const schemaText = typeof schema === 'string' ? schema : JSON.stringify(schema)
  const head = [avroBytes('avro.schema'), avroBytes(schemaText), avroBytes('avro.codec'), avroBytes(codec)]
  const parts = blocks.flatMap(([count, bytes]) => [avroLong(count), avroLong(bytes.length), bytes, sync])
  return Buffer.concat([Buffer.from('Obj\x01'), avroLong(2), ...head, avroLong(0), sync, ...parts])
}
