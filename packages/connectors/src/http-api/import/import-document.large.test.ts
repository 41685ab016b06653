import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stringify } from 'yaml'
import fc from '../../../../../test/harness/property.ts'
import { parseDefinition } from '../definition/parse-definition.ts'
import { importDocument } from './import-document.ts'

const imported = (document: unknown, wanted = '') => {
  const found = importDocument(typeof document === 'string' ? document : JSON.stringify(document), wanted)
  assert.ok(!('wrong' in found), 'wrong' in found ? found.wrong : '')
  return found
}
const refused = (document: unknown, message: RegExp, wanted = '') => {
  const found = importDocument(typeof document === 'string' ? document : JSON.stringify(document), wanted)
  assert.match('wrong' in found ? found.wrong : found.definition, message)
}

const person = {
  type: 'object',
  required: ['email', 'address'],
  properties: {
    id: { type: 'string', readOnly: true },
    email: { type: 'string', format: 'email', maxLength: 254, description: 'Address of the person\nin full' },
    plan: { type: 'string', enum: ['free', 'paid'] },
    age: { type: ['integer', 'null'] },
    score: { type: 'number' },
    subscribed: { type: 'boolean' },
    seen: { type: 'string', format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' } },
    orders: { type: 'array', items: { type: 'object' } },
    traits: { type: 'object', additionalProperties: true },
    kind: { const: 'person' },
    'first name': { type: 'string' },
    in: { type: 'string' },
    address: { type: 'object', required: ['city'], properties: { city: { type: 'string' }, zip: { type: 'string' } } },
  },
}
const openApi = (paths: object, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'People', version: '1' },
  servers: [{ url: 'https://api.example.com/v1/' }],
  security: [{ key: [] }],
  components: {
    schemas: { Person: person },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
  },
  paths,
  ...more,
})
const body = (schema: object, type = 'application/json') => ({ requestBody: { content: { [type]: { schema } } } })
const personRef = { $ref: '#/components/schemas/Person' }

describe('an operation of OpenAPI', () => {
  test('becomes method, path, body and columns with their types', () => {
    const paths = {
      '/people/{person_id}': {
        parameters: [{ name: 'person_id', in: 'path', required: true, schema: { type: 'string' } }],
        put: {
          operationId: 'upsertPerson',
          parameters: [
            { name: 'region', in: 'query', required: true },
            { name: 'debug', in: 'query' },
          ],
          ...body({ allOf: [personRef, { properties: { note: { type: 'string' } } }] }),
        },
      },
    }
    const { definition, name, values, notes } = imported(openApi(paths), 'put /people/{person_id}')
    assert.equal(name, 'upsertPerson')
    assert.deepEqual(values, { url: 'https://api.example.com/v1', authentication: 'API key', keyName: 'X-Key' })
    assert.deepEqual(notes, [])
    const parsed = parseDefinition(definition)
    assert.ok('definition' in parsed)
    const { upsertPerson: operation = assert.fail() } = parsed.definition.operations
    assert.deepEqual([operation.method, operation.path], ['PUT', '/people/{{ row.person_id }}'])
    assert.deepEqual([operation.query, operation.parameters], [{ region: '{{ parameter.region }}' }, ['region']])
    const types = Object.entries(operation.columns).map(
      ([key, { type, required }]) => `${key} ${type}${required ? '!' : ''}`,
    )
    assert.deepEqual(types, [
      'email text!',
      'plan one of',
      'age whole number',
      'score number',
      'subscribed yes or no',
      'seen moment',
      'tags list',
      'orders objects',
      'traits object',
      'first_name text',
      'in text',
      'address_city text!',
      'address_zip text',
      'note text',
      'person_id text!',
    ])
    assert.deepEqual(operation.columns.email, {
      type: 'text',
      lengthMax: 254,
      description: 'Address of the person',
      required: true,
      identifies: false,
    })
    const row = operation.row as Record<string, unknown>
    assert.deepEqual(row.address, { city: '{{ row.address_city }}', zip: '{{ row.address_zip }}' })
    assert.deepEqual(
      [row.kind, row['first name'], row.in, row.id],
      ['person', '{{ row.first_name }}', '{{ row["in"] }}', undefined],
    )
  })

  test('with a list of objects becomes a batch, as does an object around a list', () => {
    const list = { type: 'array', maxItems: 50, items: personRef }
    const paths = {
      '/lists/{list}/people': { post: { operationId: 'list', ...body(list) } },
      '/bulk': {
        post: {
          operationId: 'bulk',
          ...body({ type: 'object', required: ['people'], properties: { people: list, dry: { type: 'boolean' } } }),
        },
      },
      '/order': {
        post: {
          operationId: 'order',
          ...body({ type: 'object', required: ['id', 'lines'], properties: { id: { type: 'string' }, lines: list } }),
        },
      },
      '/form': {
        post: {
          operationId: 'form',
          ...body({ type: 'object', properties: { email: { type: 'string' } } }, 'application/x-www-form-urlencoded'),
        },
      },
      '/gone/{id}': { delete: { operationId: 'gone' } },
    }
    const operation = (id: string) => imported(openApi(paths), id).operation as Record<string, unknown>
    assert.deepEqual(
      [operation('list').batch, operation('list').path, operation('list').parameters],
      [{ rows: 50 }, '/lists/{{ parameter.list }}/people', ['list']],
    )
    assert.deepEqual([operation('bulk').batch, operation('bulk').body], [{ rows: 50 }, { people: '{{ rows }}' }])
    assert.deepEqual(
      [operation('order').batch, operation('order').row],
      [undefined, { id: '{{ row.id }}', lines: '{{ row.lines }}' }],
    )
    assert.deepEqual(operation('form').form, { email: '{{ row.email }}' })
    assert.deepEqual([operation('gone').method, operation('gone').path], ['DELETE', '/gone/{{ row.id }}'])
    refused(openApi(paths), /line \d+, column \d+: Name an operation: POST \/lists.*DELETE \/gone/)
    refused(openApi(paths), /no operation POST \/other\. Name another one/, 'POST /other')
    assert.equal(imported(stringify(openApi(paths), { aliasDuplicateObjects: false }), 'bulk').name, 'bulk')
    assert.deepEqual(Object.keys(imported(person).operation.columns as object).length, 13)
  })
})

describe('a hostile document', () => {
  const post = (schema: unknown, schemas: object = {}) => ({
    openapi: '3.0.3',
    paths: { '/a': { post: body(schema as object) } },
    components: { schemas },
  })
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

  test('has references without an end, to other documents, and to nothing', () => {
    refused(post(ref('A'), { A: ref('A') }), /line \d+, column \d+: The reference leads back to itself/)
    refused(post(ref('A'), { A: ref('B'), B: ref('A') }), /leads back to itself/)
    refused(post(ref('A'), { A: { allOf: [ref('A')] } }), /nested too deeply/)
    for (const target of ['https://example.com/a.json#/x', 'file:///etc/passwd', 'other.yaml#/x', '//host/x', 'a'])
      refused(post({ $ref: target }), /another document/)
    refused(post(ref('none')), /nothing at #\/components\/schemas\/none/)
    refused(post(ref('__proto__')), /nothing at/)
    refused(post({ $ref: 1 }), /\$ref must be a text/)
    const { notes, operation } = imported(
      post(ref('Node'), { Node: { type: 'object', properties: { name: { type: 'string' }, child: ref('Node') } } }),
    )
    assert.match(notes.join(), /child contains itself/)
    assert.deepEqual((operation.columns as Record<string, unknown>).child, { type: 'object' })
  })

  test('grows with its references, its lists and its levels: reading has bounds', () => {
    const both = Object.fromEntries(
      Array.from({ length: 18 }, (_, at) => [`L${at}`, { allOf: [ref(`L${at + 1}`), ref(`L${at + 1}`)] }]),
    )
    refused(post(ref('L0'), { ...both, L18: { type: 'object', properties: { a: {} } } }), /More than 20000 values/)
    const wide = Object.fromEntries(
      Array.from({ length: 4 }, (_, at) => [
        `W${at}`,
        {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 30 }, (_, key) => [`k${key}`, at === 3 ? {} : ref(`W${at + 1}`)]),
          ),
        },
      ]),
    )
    refused(post(ref('W0'), wide), /more than 500 columns|More than 20000 values/)
    const enums = {
      type: 'object',
      properties: { a: { type: 'string', enum: Array.from({ length: 100_000 }, (_, at) => `v${at}`) } },
    }
    assert.match(imported(post(enums)).notes.join(), /100000 values/)
    refused('['.repeat(50_000), /at most 100 levels|not valid/)
    refused(`${'{"a":'.repeat(50_000)}1`, /at most 100 levels|not valid/)
    refused('a: &a [1]\nb: *a\n', /aliases/)
    refused('openapi: 3.0.0\npaths: {\n', /line \d+/)
    refused('', /cannot be imported at line 1/)
    refused({ swagger: '2.0' }, /Swagger 2\.0 cannot be imported/)
    refused({ openapi: '4.0.0' }, /OpenAPI 4\.0\.0 is not known/)
  })

  test('has any values at any places: it is imported or refused with a place, and never fails', () => {
    const key = fc.oneof(
      fc.constantFrom(
        'type',
        'properties',
        'items',
        'allOf',
        'oneOf',
        '$ref',
        'required',
        'enum',
        'const',
        'content',
        'schema',
        '__proto__',
        'constructor',
        '...',
        '',
      ),
      fc.string({ maxLength: 10 }),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(
          'object',
          'string',
          'array',
          '#/paths',
          '#',
          '#/components/schemas/A',
          '{{ row.x }}',
          true,
          false,
          null,
          0,
          1e308,
        ),
        fc.string({ maxLength: 8 }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 5 }),
      ),
    }))
    const base = openApi({
      '/people/{id}': {
        post: { ...body({ type: 'object', properties: { a: personRef } }), parameters: [{ name: 'id', in: 'path' }] },
      },
    })
    const places: string[][] = []
    const visit = (one: unknown, at: string[]) => {
      if (typeof one !== 'object' || one === null) return
      for (const [name, below] of Object.entries(one)) {
        places.push([...at, name])
        visit(below, [...at, name])
      }
    }
    visit(base, [])
    fc.assert(
      fc.property(fc.constantFrom(...places), value, fc.string({ maxLength: 5 }), (place, replaced, wanted) => {
        const document = structuredClone(base) as Record<string, unknown>
        let at = document
        for (const name of place.slice(0, -1)) at = at[name] as Record<string, unknown>
        at[place.at(-1) ?? ''] = replaced
        for (const text of [JSON.stringify(document), JSON.stringify(replaced)]) {
          const found = importDocument(text, text.length % 2 === 0 ? wanted : '')
          if ('wrong' in found) assert.match(found.wrong, /line \d+, column \d+|levels|must (?:have|be)/)
          else assert.ok('definition' in parseDefinition(found.definition))
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

test('every value of a schema is a template of its own column, whatever its properties are called', () => {
  const name = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.constantFrom('in', 'for', 'constructor', 'toString', 'a b', 'a-b', 'a_b', '1', 'row'),
  )
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('string', 'number', 'integer', 'boolean').map((type) => ({ type })),
      fc
        .dictionary(name, tie('schema'), { minKeys: 1, maxKeys: 4, noNullPrototype: true })
        .map((properties) => ({ type: 'object', properties })),
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(name, schema, { minKeys: 1, maxKeys: 4, noNullPrototype: true }), (properties) => {
      const { operation } = imported({ type: 'object', properties })
      const templates: string[] = []
      const visit = (one: unknown, of: Record<string, unknown>): void => {
        const known = of.properties as Record<string, Record<string, unknown>> | undefined
        if (!known) return void templates.push(String(one))
        assert.deepEqual(
          Object.keys(one as object).sort(),
          Object.keys(known)
            .filter((key) => key !== '...')
            .sort(),
        )
        for (const [key, below] of Object.entries(one as object)) visit(below, known[key] ?? {})
      }
      visit(operation.row, { properties })
      assert.equal(new Set(templates).size, templates.length)
      assert.equal(Object.keys(operation.columns as object).length, templates.length)
    }),
    { numRuns: 300 },
  )
})
