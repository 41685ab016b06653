import assert from 'node:assert/strict'
import type { TransferHost } from '@penstock/engine'

/** Answers of a host for transfers that send all rows. */
export const noDigests: Pick<
  TransferHost,
  'readDigests' | 'readKeys' | 'doubtRows' | 'replaceDigests' | 'reportLine' | 'rejectedKeys'
> = {
  readDigests: async () => assert.fail('all rows are sent'),
  readKeys: async () => assert.fail('all rows are sent'),
  doubtRows: async () => assert.fail('all rows are sent'),
  replaceDigests: async () => assert.fail('all rows are sent'),
  rejectedKeys: async () => ({ key: '', open: [] }),
  reportLine: async ({ side }) => assert(side !== null, 'all rows are sent'),
}
