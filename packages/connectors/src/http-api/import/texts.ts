import { isObject } from '../../platform-api/json.ts'

/** Facts that are known while a stream is imported. */
export type Notes = {
  /** Values of the configuration. */
  readonly given: Readonly<Record<string, string>>
  readonly problems: { path: string; message: string }[]
  readonly path: string
  /** The name of the partition in templates. */
  partition: string | undefined
  /** The names of the times in templates. */
  cursor: { readonly start: string; readonly end: string } | undefined
}

const accessOf = /^([a-z_]+)((?:\.\w+|\[\s*(?:'[^']*'|"[^"]*")\s*\]|\.get\(\s*(?:'[^']*'|"[^"]*")\s*\))*)$/

/** The names of an access such as `response["meta"].next`; `undefined` if an expression is anything else. */
export function namesOf(expression: string): readonly string[] | undefined {
  const [, root, rest = ''] = accessOf.exec(expression.trim()) ?? []
  if (root === undefined) return undefined
  const keys = rest.matchAll(/\.get\(\s*['"]([^'"]*)['"]\s*\)|\.(\w+)|\[\s*['"]([^'"]*)['"]\s*\]/g)
  return [root, ...[...keys].map(([, got, dotted, quoted]) => got ?? dotted ?? quoted ?? '')]
}

/** A template of a manifest as one of ours: values of the configuration are filled in. Notes what cannot be carried. */
export function templateOf(template: string, notes: Notes, path: string): string {
  const wrong = (message: string) => {
    notes.problems.push({ path: `${notes.path}.${path}`, message })
    return ''
  }
  if (template.includes('{%')) return wrong('A template with statements ({% … %}) cannot be carried.')
  return template.replace(/\{\{(.*?)\}\}/gs, (_, inside: string) => {
    const [root, ...keys] = namesOf(inside) ?? []
    const key = keys.join('.')
    const constant = /^\s*(?:'([^'{}]*)'|"([^"{}]*)"|(\d+))\s*$/.exec(inside)
    if (constant) return constant[1] ?? constant[2] ?? constant[3] ?? ''
    if (root === 'config' && key !== '') {
      return notes.given[key] ?? wrong(`It needs a value of the configuration: --value ${key}=…`)
    }
    if ((root === 'stream_slice' || root === 'stream_partition' || root === 'stream_interval') && key !== '') {
      if (key === notes.partition) return '{{ partition }}'
      if (key === notes.cursor?.start) return '{{ cursor.start }}'
      if (key === notes.cursor?.end) return '{{ cursor.end }}'
    }
    return wrong(`The expression {{${inside.slice(0, 100)}}} cannot be carried.`)
  })
}

/** Texts by name, such as parameters. Empty ones are left out, as the CDK does. */
export function textsOf(value: unknown, notes: Notes, path: string): Record<string, string> {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) {
    notes.problems.push({ path: `${notes.path}.${path}`, message: 'It is not an object of texts.' })
    return {}
  }
  const entries = Object.entries(value).map(([key, one]): [string, string] => {
    if (typeof one === 'object')
      notes.problems.push({ path: `${notes.path}.${path}.${key}`, message: 'It is not a text.' })
    return [key, templateOf(String(one), notes, `${path}.${key}`)]
  })
  return Object.fromEntries(entries.filter(([, text]) => text !== ''))
}
