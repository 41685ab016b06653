import { open, realpath } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { limits } from '@penstock/wire'
import type { Position, Problem } from './problems.ts'

/**
 * References in values: `${env:NAME}` is an environment variable, `${file:path}` is the content of a file without the final line
 * break, and `$${` is a literal `${`.
 */

const reference = /\$\$\{|\$\{(env|file):([^{}]*)\}|\$\{/g

/** Whether a text has a reference. */
export const hasReference = (text: string): boolean =>
  [...text.matchAll(reference)].some(([, kind]) => kind !== undefined)

/** A text in the form for a file that preserves it. */
export const withoutReferences = (text: string): string => text.replaceAll('${', () => '$${')

/** Bytes of a file that a reference names. */
const fileBytesMax = limits.secretLengthMax * 4

export type ResolverOptions = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The directory that must contain the files of references, after links are resolved; undefined: any directory. */
  readonly filesWithin?: string | undefined
}

/** Resolves the references of texts, and collects what cannot be resolved. */
export type Resolver = {
  /** @returns the text; undefined if a reference cannot be resolved, with the reason in `problems` */
  resolve(text: string, at: Position, problems: Problem[]): Promise<string | undefined>
}

export function createResolver({ env, filesWithin }: ResolverOptions): Resolver {
  const files = new Map<string, Promise<string>>()
  const read = (path: string) => {
    const known = files.get(path) ?? readReferenced(path, filesWithin)
    files.set(path, known)
    return known
  }
  return {
    resolve: async (text, at, problems) => {
      const parts: string[] = []
      let end = 0
      let isWhole = true
      const wrong = (message: string) => {
        isWhole = false
        problems.push({ message, at })
      }
      for (const { 0: whole, 1: kind, 2: name = '', index } of text.matchAll(reference)) {
        parts.push(text.slice(end, index))
        end = index + whole.length
        if (whole === '$${') parts.push('${')
        else if (kind === 'env') {
          const value = Object.hasOwn(env, name) ? env[name] : undefined
          if (value === undefined || value === '') wrong(`The environment variable ${name} is not set: set it.`)
          else parts.push(value)
        } else if (kind === 'file') {
          try {
            parts.push(await read(resolve(dirname(at.file), name)))
          } catch (error) {
            wrong(
              `The file ${name} ${error instanceof RefusedFile ? error.message : `cannot be read (${codeOf(error)})`}.`,
            )
          }
        } else wrong(`\${ begins a reference: \${env:NAME} or \${file:path}. To write it as text, use $\${.`)
      }
      return isWhole ? [...parts, text.slice(end)].join('') : undefined
    },
  }
}

class RefusedFile extends Error {}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'failed'

async function readReferenced(path: string, within: string | undefined): Promise<string> {
  if (within !== undefined) {
    const directory = await realpath(within)
    if (!(await realpath(path)).startsWith(directory.endsWith(sep) ? directory : directory + sep))
      throw new RefusedFile(`is not in ${within}: move it there, or change --files-within`)
  }
  // A named FIFO that nothing writes to would wait for ever.
  const { O_RDONLY, O_NONBLOCK } = (await import('node:fs')).constants
  await using file = await open(path, O_RDONLY | O_NONBLOCK)
  const about = await file.stat()
  if (!about.isFile()) throw new RefusedFile('is not a file')
  if (about.size > fileBytesMax) throw new RefusedFile(`has more than ${fileBytesMax} bytes`)
  return (await file.readFile('utf8')).replace(/\r?\n$/, '')
}
