import { randomBytes } from 'node:crypto'

/** The hidden names under which the attempts of a transfer write one file, until it is complete. */
export type PartialNames = {
  /** Name of an attempt of an earlier version. */
  readonly plain: string
  /** Candidates for a free name if a directory cannot be listed, with numbers from 1 on. */
  numbered(number: number): string
  /** A name that is unique for each attempt: `.20260131T120000Z-<transferId>_<attempt>.csv.partial`. */
  next(): string
  /** Whether a name is one of these. */
  includes(name: string): boolean
}

/** @param fileName the name of the complete file; unique for this transfer */
export function partialNames(fileName: string): PartialNames {
  const [extension = ''] = /\.[a-z0-9]+(?:\.gz)?$/i.exec(fileName) ?? []
  const beginning = `.${fileName.slice(0, fileName.length - extension.length)}`
  const end = `${extension}.partial`
  return {
    plain: `${beginning}${end}`,
    numbered: (number) => `${beginning}_${number}${end}`,
    next: () => `${beginning}_${randomBytes(6).toString('hex')}${end}`,
    includes(name) {
      if (!name.startsWith(beginning) || !name.endsWith(end)) return false
      return /^(?:_[0-9a-f]+)?$/.test(name.slice(beginning.length, name.length - end.length))
    },
  }
}
