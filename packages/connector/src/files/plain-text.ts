/** Longer texts are checked and written in one call each; for shorter texts the calls cost more than the characters. */
const singlyMax = 20

/** Writes a text into a block from an offset on. @returns the place after it; -1 if it is not plain text and needs an escape */
export type WritePlain = (block: Buffer, at: number, text: string) => number

/**
 * Creates a writer for text that is ASCII without some special characters, like nearly all cells.
 * @param special the special characters, all ASCII
 */
export function plainWriter(special: string): WritePlain {
  const isSpecial = new Uint8Array(128)
  for (const character of special) isSpecial[character.charCodeAt(0)] = 1
  const notPlain = new RegExp(`[${special.replace(/[\\\]^-]/g, '\\$&')}\\x80-\\uffff]`)
  return (block, at, text) => {
    const { length } = text
    if (length > singlyMax) return notPlain.test(text) ? -1 : at + block.write(text, at, 'latin1')
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index)
      if (code > 127 || isSpecial[code] === 1) return -1
      block[at + index] = code
    }
    return at + length
  }
}
