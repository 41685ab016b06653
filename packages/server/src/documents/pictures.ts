import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { guidesFolder } from '../places.ts'

/** A picture of the guides: a drawing of `docs/diagrams/` or a screenshot of `docs/screenshots/`. */
export type Picture = {
  /** Its path in `docs/`, such as `diagrams/lifecycle.svg`. */
  readonly path: string
  /** Size in CSS pixels. Undefined if the file does not contain it in the expected form. */
  readonly size: { readonly width: number; readonly height: number } | undefined
}

/** Paths of the pictures in `docs/` that are installed. A package with only the service has no pictures. */
export const picturePaths = (): string[] =>
  ['diagrams', 'screenshots'].flatMap((folder) => {
    const place = new URL(`${folder}/`, guidesFolder)
    if (!existsSync(place)) return []
    return readdirSync(place)
      .filter((file) => /^[\w-]+\.(?:svg|png)$/.test(file))
      .map((file) => `${folder}/${file}`)
  })

/** The pictures that are here, each with its size, for which its file is read. */
export const pictures = (): Picture[] => picturePaths().map((path) => ({ path, size: sizeOf(readPicture(path)) }))

/** The content of a picture. @param path one of `picturePaths` */
export const readPicture = (path: string): Buffer => readFileSync(new URL(path, guidesFolder))

const pngSignature = '89504e470d0a1a0a'

/**
 * The size of a PNG is in its header (section 11.2.1 of its specification), and the size of an SVG in the attributes of its
 * element.
 */
function sizeOf(content: Buffer): Picture['size'] {
  if (content.subarray(0, 8).toString('hex') === pngSignature) {
    return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) }
  }
  const [, width, height] = /^<svg [^>]*width="(\d+)" height="(\d+)"/.exec(content.subarray(0, 500).toString()) ?? []
  return width === undefined ? undefined : { width: Number(width), height: Number(height) }
}
