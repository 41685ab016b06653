import {
  callSRet,
  type DuckDBRuntime,
  type DuckDBModule as DuckdbModule,
  dropResponseBuffers,
  FileFlags,
  failWith,
  readString,
} from '@duckdb/duckdb-wasm/blocking'

/** The files that DuckDB sees, in memory. It has no other files, no directories and no network, regardless of the database. */

/** The memory of the module, which its types omit. */
type Memory = { readonly HEAPU8: Uint8Array; readonly HEAPF64: Float64Array; _malloc(bytes: number): number }
const memoryOf = (module: DuckdbModule) => module as unknown as Memory
const part = (module: DuckdbModule, at: number, bytes: number) => memoryOf(module).HEAPU8.subarray(at, at + bytes)

/** The value with which the module declares that the functions below open its files. */
const byRuntime = 1

/** A file in memory. */
export class MemoryFile {
  #bytes: Buffer
  #size: number
  readonly #sizeMax: number

  /** @param bytes its content, which is not copied @param sizeMax maximum size in bytes; without it, the file is read-only */
  constructor(bytes: Buffer, sizeMax = 0) {
    this.#bytes = bytes
    this.#size = bytes.length
    this.#sizeMax = sizeMax
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  /** Copies the bytes at an offset. Returns their number. */
  read(target: Uint8Array, at: number): number {
    const found = this.#bytes.subarray(at, Math.min(this.#size, at + target.length))
    target.set(found)
    return found.length
  }

  /** Writes bytes at an offset. Returns whether this is allowed. */
  write(source: Uint8Array, at: number): boolean {
    if (!this.#grow(at + source.length)) return false
    this.#bytes.set(source, at)
    return true
  }

  /** Sets the size. Returns whether this is allowed. */
  resize(size: number): boolean {
    if (!this.#grow(size)) return false
    this.#size = size
    return true
  }

  #grow(size: number): boolean {
    if (size > this.#sizeMax) return false
    if (size > this.#bytes.length) {
      const larger = Buffer.alloc(Math.min(this.#sizeMax, Math.max(size, 2 * this.#bytes.length)))
      larger.set(this.bytes)
      this.#bytes = larger
    }
    this.#size = Math.max(this.#size, size)
    return true
  }
}

/**
 * Creates the functions that modules call for their files. A module gets these functions from a global object, so there is one
 * for all modules.
 * @param files by name; other files do not exist
 */
export function memoryRuntime(files: ReadonlyMap<string, MemoryFile>): DuckDBRuntime {
  const openedBy = new WeakMap<DuckdbModule, Map<number, MemoryFile>>()
  const openedIn = (module: DuckdbModule): Map<number, MemoryFile> => {
    const opened = openedBy.get(module) ?? new Map()
    openedBy.set(module, opened)
    return opened
  }
  const refuse = (module: DuckdbModule) => {
    failWith(module, 'There is no such file')
    return 0
  }
  const none = () => 0
  const no = () => false
  return {
    _udfFunctions: new Map(),
    testPlatformFeature: () => true,
    getDefaultDataProtocol: () => byRuntime,
    openFile(module, id, flags) {
      const file = files.get(nameOf(module, id))
      if (!file) return flags & FileFlags.FILE_FLAGS_NULL_IF_NOT_EXISTS ? 0 : refuse(module)
      openedIn(module).set(id, file)
      // The module frees this description of the file.
      const described = memoryOf(module)._malloc(16)
      memoryOf(module).HEAPF64.set([file.bytes.length, 0], described >> 3)
      return described
    },
    closeFile(module, id) {
      openedIn(module).delete(id)
      return 0
    },
    readFile(module, id, to, bytes, at) {
      return (
        openedIn(module)
          .get(id)
          ?.read(part(module, to, bytes), at) ?? refuse(module)
      )
    },
    writeFile(module, id, from, bytes, at) {
      return openedIn(module)
        .get(id)
        ?.write(part(module, from, bytes), at)
        ? bytes
        : refuse(module)
    },
    truncateFile(module, id, size) {
      return openedIn(module).get(id)?.resize(size) ? 0 : refuse(module)
    },
    checkFile: (module, name, length) => files.has(readString(module, name, length)),
    getLastFileModificationTime: none,
    syncFile: none,
    dropFile: none,
    removeFile: none,
    moveFile: refuse,
    glob: none,
    checkDirectory: no,
    createDirectory: refuse,
    removeDirectory: refuse,
    listDirectoryEntries: no,
    progressUpdate: none,
    callScalarUDF: none,
  }
}

/** The name under which the module opens a file. */
function nameOf(module: DuckdbModule, id: number): string {
  const [, text, length] = callSRet(module, 'duckdb_web_fs_get_file_info_by_id', ['number', 'number'], [id, 0])
  const said = length === 0 ? 'null' : readString(module, text, length)
  dropResponseBuffers(module)
  return (JSON.parse(said) as { fileName?: string } | null)?.fileName ?? ''
}
