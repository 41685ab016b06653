import assert from 'node:assert/strict'
import type { Rejection } from '@penstock/connector'

/**
 * Asserts which rows are rejected, in this order, and that no others are.
 * @param wanted the index of each row, with the field to blame if the test is about fields
 */
export function assertRejected(
  rejected: readonly Rejection[] | undefined,
  wanted: readonly (number | undefined | readonly (number | string | undefined)[])[],
): void {
  const found = rejected?.map(({ index, field }, at) => (Array.isArray(wanted[at]) ? [index, field] : index))
  assert.deepEqual(found, wanted)
}
