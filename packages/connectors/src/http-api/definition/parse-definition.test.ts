import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDefinition } from './parse-definition.ts'

const streamOf = (yaml: string) => `streams:\n  a:\n    path: /a\n${yaml}`
const wrong: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  'text that is not YAML': ['streams: [', /^is not valid YAML or JSON: line 1, column/],
  'a list': ['- a', /must be an object/],
  'no streams': ['streams: {}', /1 to 100 streams/],
  'an alias': ['a: &a 1\nb: *a', /no aliases/],
  'deep brackets': ['['.repeat(5_000), /levels/],
  'deep items': ['- '.repeat(5_000), /levels/],
  'a path without a slash': ['streams: { a: { path: b } }', /line 1, column 23: path must be a path/],
  'a path that goes up': ['streams: { a: { path: /a/../b } }', /segment/],
  'an unknown name in a template': [
    streamOf('    query: { a: "{{ cursor.strat }}" }\n'),
    /line 4, column 17: .*Did you mean/,
  ],
  'a name that the stream does not have': [
    streamOf('    query: { a: "{{ partition }}" }\n'),
    /needs a stream with part/,
  ],
  'braces without a name': [streamOf('    query: { a: "{{ cursor" }\n'), /Two braces/],
  'a secret in a template': [streamOf('    query: { a: "{{ secrets.apiToken }}" }\n'), /is not known/],
  'a header of the connector': [streamOf('    headers: { Authorization: x }\n'), /set by the connector/],
  'an unknown stream': [streamOf('    partitions: { stream: b, field: id }\n'), /There is no stream b/],
  'pages without a parameter': [streamOf('    pages: { by: page }\n'), /needs parameter/],
  'a kind of page': [streamOf('    pages: { by: ofset, parameter: a }\n'), /Did you mean offset/],
  'a body in a GET': [streamOf('    method: GET\n    body: {}\n'), /needs the method POST/],
  'a rule without an action': [streamOf('    errors: [{ status: 404 }]\n'), /needs action/],
}
for (const [name, [text, message]] of Object.entries(wrong)) {
  test(`A definition is refused for ${name}`, () => {
    const parsed = parseDefinition(text)
    assert.ok('wrong' in parsed)
    assert.match(parsed.wrong, message)
  })
}

test('Texts of every kind are read or refused, and never end in an exception', () => {
  const tokens = [
    'streams',
    ': ',
    '\n',
    '  ',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    'a',
    'path',
    '/a',
    ', ',
    '__proto__',
    'pages',
  ]
  const more = [
    'by',
    'cursor',
    '&x ',
    '*x',
    '!!set ',
    '!!binary ',
    '<<',
    '? ',
    '|',
    '>',
    '#',
    '%',
    '\0',
    '\t',
    'null',
    '1e999',
    '{{ cursor.start }}',
  ]
  const all = [...tokens, ...more]
  let seed = 7
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return seed % below
  }
  for (let run = 0; run < 300; run++) {
    const begin = next(2) ? '' : 'streams:\n  a:\n    path: /a\n    '
    const text = begin + Array.from({ length: next(20) }, () => all[next(all.length)]).join('')
    const parsed = parseDefinition(text)
    if ('wrong' in parsed) assert.ok(parsed.wrong !== '', text)
    else assert.ok(Object.keys(parsed.definition.streams).length > 0, text)
  }
})
