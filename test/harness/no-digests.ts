import assert from 'node:assert/strict'
import type { TransferHost } from '@penstock/engine'

/** Answers of a host for transfers that send all rows. */
export const noDigests: Pick<TransferHost, 'readDigests' | 'doubtRows' | 'replaceDigests'> = {
  readDigests: async () => assert.fail('all rows are sent'),
  doubtRows: async () => assert.fail('all rows are sent'),
  replaceDigests: async () => assert.fail('all rows are sent'),
}
