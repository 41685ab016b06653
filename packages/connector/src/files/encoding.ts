import { isUtf8 } from 'node:buffer'
import { ConnectorError } from '../connector-error.ts'

/** Encodings of text that can be chosen. */
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const

/** Decoders of bytes to text. All keep line breaks, so that a place in the text can be found in the bytes. */
export type Encoding = {
  readonly name: string
  /** Bytes of a character, if all characters have the same number. */
  readonly unitBytes: 1 | 2 | undefined
  /** Bytes of a byte order mark at the beginning. */
  readonly markBytes: number
  decode(bytes: Buffer): string
  /** Whether these bytes are text in this encoding. */
  fits(bytes: Buffer): boolean
}

/**
 * The encoding of a file: by its byte order mark, otherwise the chosen one, otherwise UTF-8. The mark overrides the choice,
 * because a file with a mark certainly has this encoding.
 * @param chosen one of `encodings`, any name of theirs, or `auto`
 */
export function encodingOf(start: Buffer, chosen = 'auto'): Encoding {
  const marked = markOf(start)
  if (marked) return make(marked, marked === 'utf-8' ? 3 : 2)
  if (chosen === 'auto') return make('utf-8', 0)
  try {
    return make(new TextDecoder(chosen).encoding, 0)
  } catch {
    throw new ConnectorError('invalid_setting', `Unknown encoding ${chosen}. Choose another encoding.`)
  }
}

function markOf(start: Buffer): string | undefined {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return 'utf-8'
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le'
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be'
  return undefined
}

function make(name: string, markBytes: number): Encoding {
  switch (name) {
    case 'utf-8':
      return { name, unitBytes: undefined, markBytes, decode: (bytes) => bytes.toString('utf8'), fits: isUtf8 }
    case 'windows-1252':
      return { name, unitBytes: 1, markBytes, decode: decodeWindows1252, fits: () => true }
    case 'utf-16le':
    case 'utf-16be':
      return {
        name,
        unitBytes: 2,
        markBytes,
        decode: (bytes) => decodeUtf16(bytes, name === 'utf-16be'),
        fits: (bytes) => bytes.length % 2 === 0 && decodeUtf16(bytes, name === 'utf-16be').isWellFormed(),
      }
    default:
      throw new ConnectorError(
        'invalid_setting',
        `Files in the encoding ${name} cannot be read. Choose one of ${encodings.join(', ')}.`,
      )
  }
}

/** Halves of characters stay, so that the error is found in their row. A single last byte also becomes such a half. */
function decodeUtf16(bytes: Buffer, bigEndian: boolean): string {
  const even = bytes.subarray(0, bytes.length & ~1)
  const text = bigEndian ? Buffer.from(even).swap16().toString('utf16le') : even.toString('utf16le')
  return even.length === bytes.length ? text : `${text}\ud800`
}

const windows1252 = new TextDecoder('windows-1252')

/** Most texts contain none of the 32 characters in which windows-1252 differs from ISO-8859-1. ISO-8859-1 is decoded faster. */
function decodeWindows1252(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  return /[\x80-\x9f]/.test(text) ? windows1252.decode(bytes) : text
}
