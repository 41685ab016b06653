import type { ApiStream, RecordChange } from './definition.ts'
import { checkExpression, type KnownNames } from './read-names.ts'
import { Part } from './read-part.ts'

/** Reads the changes of the records of a stream. */
export function readChanges(stream: Part, known: KnownNames): ApiStream['changes'] {
  return (stream.list('changes', 500) ?? []).map((value, index) => {
    const keys = ['keep', 'set', 'to', 'if', 'remove', 'lift', 'names']
    return readChange(new Part(value, [...stream.path, 'changes', index], keys), {
      ...known,
      of: 'record',
    })
  })
}

function readChange(part: Part, known: KnownNames): RecordChange {
  const kinds = ['keep', 'set', 'remove', 'lift', 'names'].filter((kind) => part.has(kind))
  if (kinds.length !== 1) part.wrong('A change has one of keep, set, remove, lift and names.')
  const expression = (key: string): string => {
    const text = part.text(key, /[\s\S]/, 'an expression', 4_000) ?? ''
    if (text !== '') checkExpression(part, [key], text, known)
    return text
  }
  if (part.has('keep')) return { keep: expression('keep') }
  if (part.has('remove')) return { remove: part.keys('remove') }
  if (part.has('lift')) return { lift: part.keys('lift') }
  if (part.has('names')) return { names: part.choice('names', ['lower', 'snake'] as const) ?? 'lower' }
  if (!part.has('to')) part.wrong('set needs to: an expression.')
  return { set: part.keys('set'), to: expression('to'), ...(part.has('if') ? { if: expression('if') } : {}) }
}
