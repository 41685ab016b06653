import type { Row } from './rows.ts'

/** Shorter values are parts of words. */
const lengthMinDefault = 3
/** Shorter pieces of an encoded value appear by coincidence. */
const encodedLengthMin = 4

/**
 * Creates the function that removes the values of rows from a text of another system, in any letter case and in the forms in
 * which systems repeat requests: plain, percent-encoded or escaped for JSON, also twice, in hexadecimal, and in Base64, also
 * within a longer text that was encoded.
 * @param lengthMin shorter values are kept
 */
export function valueRedactor(rows: readonly Row[], lengthMin = lengthMinDefault): (text: string) => string {
  return (text) => {
    const lower = lowerCase(text)
    const isValue = new Uint8Array(text.length)
    for (const form of formsOf(rows, lengthMin)) {
      for (let at = lower.indexOf(form); at >= 0; at = lower.indexOf(form, at + 1))
        isValue.fill(1, at, at + form.length)
    }
    if (!isValue.includes(1)) return text
    return text
      .split('')
      .map((letter, at) => (isValue[at] === 0 ? letter : isValue[at - 1] === 1 ? '' : '…'))
      .join('')
  }
}

/** One after the other, because a batch can have many. */
function* formsOf(rows: readonly Row[], lengthMin: number): Generator<string> {
  for (const cell of cellsOf(rows)) {
    const value = typeof cell === 'string' || typeof cell === 'number' ? oneLine(String(cell)) : ''
    if (value.length < lengthMin) continue
    yield lowerCase(value)
    const bytes = Buffer.from(String(cell))
    const percent = encodeURIComponent(String(cell).toWellFormed())
    const json = JSON.stringify(cell).replace(/^"|"$/g, '')
    const encoded = [
      percent,
      encodeURIComponent(percent),
      json,
      JSON.stringify(json).slice(1, -1),
      bytes.toString('hex'),
      ...[0, 1, 2].map((before) => base64Of(bytes, before)),
    ]
    for (const form of encoded) {
      if (form.length < encodedLengthMin) continue
      yield lowerCase(form)
      if (/[+/]/.test(form)) yield lowerCase(form).replaceAll('+', '-').replaceAll('/', '_')
    }
  }
}

function* cellsOf(rows: readonly Row[]) {
  for (const row of rows) yield* row
}

/** The characters of Base64 that depend only on these bytes, after this number of bytes. */
const base64Of = (bytes: Buffer, before: number): string =>
  Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))

/** Without a change of length, so that places in both texts are the same. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase()
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** A text as a reason shows it. */
export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
