import assert from 'node:assert/strict'
import type { Transfer } from '@penstock/wire'
import type { Fixture } from './transfers.ts'

/**
 * Fails unless the counts of an ended transfer are consistent: records read equal records accepted, rejected and skipped. The
 * entries of the ledger add up to the transfer, and entries without tests add up to the volumes (invariants 9 and 10).
 */
export async function assertAccounted(
  { service, caller, accountId }: Pick<Fixture, 'service' | 'caller' | 'accountId'>,
  { id, connectionId, records, skipped, bytes, status, error }: Transfer,
): Promise<void> {
  const { read, accepted, rejected } = records
  const left = Object.values(skipped).reduce((sum, count) => sum + count, 0)
  assert.equal(read, accepted + rejected + left, 'read is accepted, rejected and skipped')
  const sum = async (where: string, value: string) => {
    // A replay reads rejected records, which the source had once.
    const read = where === 'transfer_id' ? 'read' : 'case when replay then 0 else read end'
    const { rows } = await service.database.pool.query(
      `select coalesce(sum(${read}), 0)::int as read, coalesce(sum(accepted), 0)::int as accepted,
         coalesce(sum(rejected), 0)::int as rejected, coalesce(sum(bytes), 0)::float8 as bytes,
         (
           select coalesce(bool_and(last = entries), true) from (
             select max(number % 1000000) as last, count(*) as entries from ledger e where e.${where} = $1
             group by transfer_id, number / 1000000
           ) parts
         ) as unbroken, count(delivery_state_sealed)::int as "deliveryStates"
       from ledger where ${where} = $1 ${where === 'transfer_id' ? '' : 'and not test'}`,
      [value],
    )
    return rows[0]
  }
  const { deliveryStates, ...own } = await sum('transfer_id', id)
  assert.deepEqual(own, { read, accepted, rejected, bytes, unbroken: true }, 'the ledger adds up to the transfer')
  assert.equal(deliveryStates, 0, 'no delivery state is kept of a transfer that has ended')
  if (status === 'succeeded' || status === 'partial') {
    // A transfer of many tables is also partial if some of them failed.
    assert.equal(status, rejected > 0 || error !== null ? 'partial' : 'succeeded')
  }

  const ofConnection = await sum('connection_id', connectionId)
  const connection = await caller.expect(caller.call('getConnection', { accountId, id: connectionId }))
  const { totalVolume, usedVolume } = connection
  assert.deepEqual({ totalVolume, usedVolume }, { totalVolume: ofConnection.read, usedVolume: ofConnection.accepted })
  const ofAccount = await sum('account_id', accountId)
  const account = await caller.expect(caller.call('getAccount', { id: accountId }))
  assert.equal(account.volume, ofAccount.accepted, 'the volume of the account')
}
