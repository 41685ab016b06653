import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wrongFilter } from './filter-expression.ts'

const country = { filter: { fieldName: 'country', stringFilter: { matchType: 'EXACT', value: 'Germany' } } }
const sessions = {
  filter: { fieldName: 'sessions', numericFilter: { operation: 'GREATER_THAN', value: { int64Value: '5' } } },
}

test('a filter expression of the Data API is valid, or its error names the field and the part', () => {
  for (const valid of [
    country,
    sessions,
    { andGroup: { expressions: [country, { notExpression: { orGroup: { expressions: [sessions] } } }] } },
    { filter: { fieldName: 'city', inListFilter: { values: ['Bonn'], caseSensitive: true } } },
    { filter: { fieldName: 'customEvent:plan', emptyFilter: {} } },
    { filter: { fieldName: 'x', betweenFilter: { fromValue: { doubleValue: 1 }, toValue: { int64Value: 2 } } } },
  ]) {
    assert.equal(wrongFilter(JSON.stringify(valid), 'Filter'), undefined)
  }
  assert.equal(wrongFilter(undefined, 'Filter'), undefined)
  const nested = Array.from({ length: 20 }).reduce<object>((inner) => ({ notExpression: inner }), country)
  for (const [wrong, message] of [
    ['country = Germany', /^Filter must be a JSON object, such as/],
    [[country], /must be a JSON object/],
    [{}, /must have one of andGroup, orGroup, notExpression, filter\.$/],
    [{ ...country, andGroup: {} }, /must have one of .*, not filter, andGroup/],
    [{ orGroup: { expressions: [] } }, /orGroup must have a list of expressions/],
    [{ andGroup: { expressions: [country, { filters: 1 }] } }, /not filters/],
    [{ filter: { stringFilter: { value: 'x' } } }, /must have a fieldName/],
    [{ filter: { fieldName: 'country' } }, /the filter of country must have one of stringFilter/],
    [
      { filter: { fieldName: 'country', stringFilter: { matchType: 'LIKE', value: '' } } },
      /of country: matchType must/,
    ],
    [{ filter: { fieldName: 'x', numericFilter: { operation: 'EQUAL', value: 5 } } }, /of x: value must be an object/],
    [{ filter: { fieldName: 'x', inListFilter: { values: [] } } }, /inListFilter of x: values must be a list/],
    [nested, /nested 10 times/],
  ] as const) {
    assert.match(wrongFilter(typeof wrong === 'string' ? wrong : JSON.stringify(wrong), 'Filter') ?? '', message)
  }
})
