/**
 * A program that lets Node compile the modules that runners load, and store the result in NODE_COMPILE_CACHE. It runs once for
 * each version, while a service starts. It is not a runner: many processes execute the compiled code, so no process that has
 * handled data of a tenant can write it. It ends with the process whose ID is its argument, or with its parent if there is no
 * argument.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { codeFiles } from './code-files.ts'
import { guardAgainstOrphanhood } from './orphan-guard.ts'

/** After this time it is compiled again: old files of temporary directories are removed by some systems. In milliseconds. */
const keptMs = 24 * 60 * 60 * 1000

const code = codeFiles()
const newest = Math.max(...code.map((file) => statSync(file).mtimeMs))
const version = `${process.version} ${code.length} ${newest}`
const own = fileURLToPath(import.meta.url)
const mark = join(process.env.NODE_COMPILE_CACHE ?? '', 'runners')

if (process.env.NODE_COMPILE_CACHE && !isCompiled()) {
  guardAgainstOrphanhood(process.argv[2] === undefined ? process.ppid : Number(process.argv[2]))
  for (const file of code) if (file !== own) await import(pathToFileURL(file).href)
  flushCompileCache()
  writeFileSync(mark, version, { mode: 0o600 })
}

function isCompiled(): boolean {
  try {
    return readFileSync(mark, 'utf8') === version && Date.now() - statSync(mark).mtimeMs < keptMs
  } catch {
    return false
  }
}
