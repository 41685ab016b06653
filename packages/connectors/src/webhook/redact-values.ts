import type { Row } from '@penstock/connector'

/** Shorter values are parts of words. */
const valueLengthMin = 3
/** Shorter pieces of an encoded value appear by coincidence. */
const encodedLengthMin = 4

/**
 * Makes what removes the values of rows from a text of another system, whatever the case and in the forms in which systems
 * repeat what they were sent: plain, percent-encoded, escaped for JSON, in hexadecimal, and in Base64, also within a longer
 * text that was encoded. The forms are made on the first call.
 */
export function valueRedactor(rows: readonly Row[]): (text: string) => string {
  let forms: readonly string[] | undefined
  return (text) => {
    forms ??= formsOf(rows)
    const lower = lowerCase(text)
    const isValue = new Uint8Array(text.length)
    for (const form of forms) {
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

function formsOf(rows: readonly Row[]): string[] {
  const forms = new Set<string>()
  for (const cell of rows.flat()) {
    const value = typeof cell === 'string' || typeof cell === 'number' ? oneLine(String(cell)) : ''
    if (value.length < valueLengthMin) continue
    forms.add(lowerCase(value))
    const bytes = Buffer.from(String(cell))
    const encoded = [
      encodeURIComponent(String(cell).toWellFormed()),
      JSON.stringify(cell).replace(/^"|"$/g, ''),
      bytes.toString('hex'),
      ...[0, 1, 2].map((before) => base64Of(bytes, before)),
    ]
    for (const form of encoded) {
      if (form.length < encodedLengthMin) continue
      forms.add(lowerCase(form))
      forms.add(lowerCase(form).replaceAll('+', '-').replaceAll('/', '_'))
    }
  }
  return [...forms]
}

/** The characters of Base64 that these bytes alone decide, with so many bytes before them. */
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
