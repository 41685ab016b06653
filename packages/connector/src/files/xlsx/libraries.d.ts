/** Parts of the library that reads ZIP files, which has no types. */
declare module 'yauzl' {
  export class RandomAccessReader {
    /** Fills a part of a buffer with the bytes from a position on, and calls back with how many there were. */
    read(
      buffer: Buffer,
      offset: number,
      length: number,
      position: number,
      callback: (error: unknown, bytesRead?: number) => void,
    ): void
  }
  export type Entry = {
    readonly fileName: string
    readonly compressionMethod: number
    readonly compressedSize: number
    readonly uncompressedSize: number
    readonly crc32: number
    isEncrypted(): boolean
  }
  export type ZipFile = {
    readonly entryCount: number
    eachEntry(): AsyncIterable<Entry>
    readLocalFileHeaderPromise(entry: Entry, options: { minimal: true }): Promise<{ readonly fileDataStart: number }>
  }
  const yauzl: {
    readonly RandomAccessReader: typeof RandomAccessReader
    fromRandomAccessReaderPromise(
      reader: RandomAccessReader,
      totalSize: number,
      options: { autoClose: false },
    ): Promise<ZipFile>
  }
  export default yauzl
}

/** Parts of the library that reads XML, which has no types. */
declare module 'sax' {
  export type SaxParser = {
    /** The part of an unfinished tag, entity, comment or instruction that the parser has read, character by character. */
    readonly tagName: string
    readonly attribName: string
    readonly attribValue: string
    readonly entity: string
    readonly comment: string
    readonly sgmlDecl: string
    readonly doctype: string | boolean
    readonly procInstName: string
    readonly procInstBody: string
    onattribute: () => void
    onopentag: (tag: { readonly name: string; readonly attributes: Readonly<Record<string, string>> }) => void
    onclosetag: (name: string) => void
    ontext: (text: string) => void
    oncdata: (text: string) => void
    ondoctype: (text: string) => void
    onerror: (error: Error) => void
    write(text: string): SaxParser
    close(): SaxParser
  }
  const sax: { parser(strict: true, options: { readonly position: false }): SaxParser }
  export default sax
}
