import type { Transfer } from '@penstock/wire'

export const pathOfConnection = ({ accountId, connectionId }: Pick<Transfer, 'accountId' | 'connectionId'>): string =>
  `/accounts/${accountId}/connections/${connectionId}`

export const pathOfRun = (transfer: Pick<Transfer, 'accountId' | 'connectionId' | 'id'>): string =>
  `${pathOfConnection(transfer)}/runs/${transfer.id}`
