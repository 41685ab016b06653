import { contrastMin, contrastOf, limits, readableOn } from '@penstock/wire'

/** How pages look: whether colours can be read, and whether a logo is a picture that can do nothing. */

/** Error of a text colour on a background colour. */
export function contrastError(background: string, text: string): string | undefined {
  const contrast = contrastOf(background, text)
  if (contrast >= contrastMin) return undefined
  // Rounded down, so that a refused contrast is never reported as sufficient.
  const shown = Math.floor(contrast * 100) / 100
  return `is hard to read on ${background}: the contrast is ${shown} to 1, and at least ${contrastMin} to 1 is needed. ${readableOn(background)} can be read`
}

type Size = { readonly width: number; readonly height: number }

/**
 * Parses a logo. Returns its standard form, or a message about the problem. SVG is refused, because an SVG document can load
 * and run other content.
 */
export function readLogo(text: string): { logo: string } | { message: string } {
  const [, type = '', base64 = ''] = /^data:image\/(png|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  if (!type) return { message: 'must be the data: URL of a PNG or WebP, in base64: data:image/png;base64,…' }
  const bytes = Buffer.from(base64, 'base64')
  const size = type === 'png' ? sizeOfPng(bytes) : sizeOfWebp(bytes)
  if (!size) return { message: `is no ${type === 'png' ? 'PNG' : 'WebP'}` }
  if (bytes.length > limits.logoBytesMax) return { message: `must have at most ${limits.logoBytesMax / 1024} KiB` }
  const max = limits.logoPixelsMax
  if (size.width < 1 || size.height < 1 || size.width > max || size.height > max) {
    return { message: `must have 1 to ${max} pixels a side, and has ${size.width} × ${size.height}` }
  }
  return { logo: `data:image/${type};base64,${bytes.toString('base64')}` }
}

function sizeOfPng(bytes: Buffer): Size | undefined {
  const begins = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  if (bytes.length < 33 || !bytes.subarray(0, 16).equals(begins)) return undefined
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

/** Of its three formats: lossy, lossless, extended (RFC 9649). */
function sizeOfWebp(bytes: Buffer): Size | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF') return undefined
  switch (bytes.toString('latin1', 8, 16)) {
    case 'WEBPVP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'WEBPVP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'WEBPVP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  }
  return undefined
}
