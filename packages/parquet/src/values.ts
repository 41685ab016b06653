/** How stored values become cells, and how blocks are unpacked: shared with other formats that store values in this way. */
export { cellsOf, type FromStored, noText, typeOfElement } from './cells.ts'
export { unpackPage } from './codecs.ts'
export type { Stored } from './encodings.ts'
export type { Element } from './schema.ts'
