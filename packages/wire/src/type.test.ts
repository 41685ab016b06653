import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as TypeBox from 'typebox'
import { Type } from './type.ts'

/** The same schemas, created by TypeBox and by our `Type`. */
const samples: readonly ((T: typeof Type) => unknown)[] = [
  (T) => T.String(),
  (T) => T.String({ pattern: '^a$', description: 'A text', examples: ['a'] }),
  (T) => T.Integer({ minimum: 0, maximum: 9 }),
  (T) => T.Number({ description: 'A number' }),
  (T) => T.Boolean({ default: true }),
  (T) => T.Null({ description: 'Nothing' }),
  (T) => T.Literal('Bearer', { description: 'A kind' }),
  (T) => T.Literal(3),
  (T) => T.Literal(true),
  (T) => T.Array(T.String(), { maxItems: 3, description: 'Texts' }),
  (T) => T.Union([T.String(), T.Null()], { description: 'Text or nothing' }),
  (T) => T.Unsafe<'a' | 'b'>({ type: 'string', enum: ['a', 'b'] }),
  (T) => T.Record(T.String(), T.Union([T.String(), T.Null()]), { description: 'Texts by key' }),
  (T) => T.Object({}),
  (T) => T.Object({ a: T.Optional(T.String()) }),
  (T) => T.Object({ a: T.Optional(T.String({ description: 'A' })), b: T.Null() }, { additionalProperties: false }),
  (T) => T.Object({ inner: T.Optional(T.Object({ deep: T.Optional(T.Array(T.Integer())), kept: T.Boolean() })) }),
]

test('makes the schemas that TypeBox makes', () => {
  for (const sample of samples) {
    assert.deepEqual(JSON.parse(JSON.stringify(sample(Type))), JSON.parse(JSON.stringify(sample(TypeBox as never))))
  }
})

test('leaves a schema as it is where a copy of it is made optional', () => {
  const text = Type.String()
  assert.deepEqual(
    Type.Object({ kept: text, left: Type.Optional(text) }),
    Type.Object({ kept: text, left: Type.Optional(text) }),
  )
  assert.deepEqual((Type.Object({ kept: text, left: Type.Optional(text) }) as { required?: string[] }).required, [
    'kept',
  ])
})
