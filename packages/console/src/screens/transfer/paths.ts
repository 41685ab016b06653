import type { Transfer } from '@penstock/wire'

export const pathOfConnection = ({ accountId, connectionId }: Pick<Transfer, 'accountId' | 'connectionId'>): string =>
  `/accounts/${accountId}/connections/${connectionId}`

export const pathOfTransfer = (transfer: Pick<Transfer, 'accountId' | 'connectionId' | 'id'>): string =>
  `${pathOfConnection(transfer)}/transfers/${transfer.id}`
