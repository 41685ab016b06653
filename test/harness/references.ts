import { dirname, join } from 'node:path'
import { isFile, readImports, remembered, resolveImport, staticImport, textOf } from './imports.ts'

/** The files that a file of the repository uses when it runs. */
export type References = {
  /** Loaded with it. */
  readonly statics: readonly string[]
  /** Loaded later, started, or read: dynamic imports, and files that a text names. */
  readonly later: readonly string[]
}

/**
 * The files that a file uses: its imports, without types, and every file that is named in one of its texts. A file that only
 * re-exports is skipped: an import from it uses the files of the imported names.
 */
export const referencesOf: (file: string) => References = remembered(readReferences)

const none: References = { statics: [], later: [] }

function readReferences(file: string): References {
  if (!/\.(?:ts|tsx|js|mjs)$/.test(file) || isOfExports(file)) return none
  const text = textOf(file)
  const statics = readImports(text).flatMap(({ specifier, names, typeOnly, dynamic }) => {
    const path = typeOnly || dynamic ? undefined : resolveImport(file, specifier)
    return path ? targetsOf(path, names) : []
  })
  const quoted = [...text.replaceAll(staticImport, '').matchAll(/'([^'\s]+)'/g)]
  const later = quoted.flatMap(([, name = '']) => namedBy(file, name)).flatMap((path) => targetsOf(path, undefined))
  return { statics: [...new Set(statics)], later: [...new Set(later)] }
}

/** Candidates for a quoted name: the target of an import, or a file in the same folder or below the root. */
function namedBy(from: string, name: string): string[] {
  const paths = [join(dirname(from), name), name].filter(
    (path) => /\.\w+$/.test(path) && !path.startsWith('..') && isFile(path),
  )
  const imported = resolveImport(from, name)
  return imported ? [imported, ...paths] : paths
}

/** A module, and the modules that define what it only exports. */
function targetsOf(path: string, names: readonly string[] | undefined): string[] {
  if (!isOfExports(path)) return [path]
  const exports = readImports(textOf(path)).flatMap((one) => {
    const target = one.typeOnly ? undefined : resolveImport(path, one.specifier)
    return target ? [{ target, names: one.names ?? namesOf(target) }] : []
  })
  const wanted = names?.filter((name) => exports.some((one) => one.names.includes(name)))
  // A name that is not found is a type, or is exported in a form that we do not read.
  const isSure = wanted?.length === names?.length
  const used = exports.filter((one) => !isSure || !wanted || one.names.some((name) => wanted.includes(name)))
  return [path, ...used.flatMap((one) => targetsOf(one.target, isSure ? wanted : undefined))]
}

/** Whether a module only exports names of other modules. */
const isOfExports = remembered((path: string): boolean => {
  const text = /\.ts$/.test(path) ? textOf(path).replaceAll(/\/\*[\s\S]*?\*\/|^\/\/.*$/gm, '') : ''
  return /^\s*export\b/.test(text) && text.replaceAll(/^export\s[^'()=;]*?\sfrom\s+'[^']+'$/gm, '').trim() === ''
})

/** The names that a module exports. */
const namesOf: (path: string) => readonly string[] = remembered((path) => {
  const text = textOf(path)
  const declared = [...text.matchAll(/^export (?:async )?(?:const|let|function\*?|class|type|interface|enum) (\w+)/gm)]
  const passed = readImports(text).flatMap((one) =>
    one.isExport ? (one.names ?? passedNames(path, one.specifier)) : [],
  )
  return [...declared.map(([, name = '']) => name), ...passed]
})

function passedNames(path: string, specifier: string): readonly string[] {
  const target = resolveImport(path, specifier)
  return target ? namesOf(target) : []
}
