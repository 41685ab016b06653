import { Alert, Stack, Text } from '@mantine/core'
import { limits, type Transfer } from '@penstock/wire'
import { IconInfoCircle } from '@tabler/icons-react'
import { useRead } from '../../api/queries.ts'
import { transfer as say } from '../../strings/transfer.ts'

/** The reasons that the source gave in the log of a transfer that read nothing: rows may wait for the next one. */
export function NothingRead({ transfer }: { transfer: Transfer }) {
  const { accountId, connectionId: id, id: transferId, status, records } = transfer
  const enabled = status === 'succeeded' && records.read === 0
  const query = { size: limits.pageSizeMax }
  const { data } = useRead('listTransferLog', { accountId, id, transferId, query }, { enabled })
  const lines = data?.reply.filter(({ kind }) => kind === 'reported') ?? []
  if (!enabled || lines.length === 0) return null
  return (
    <Alert color="blue" icon={<IconInfoCircle aria-hidden />} title={say.nothingRead} role="status">
      <Stack gap={4}>
        {lines.map(({ number, text }) => (
          <Text key={number} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {text}
          </Text>
        ))}
      </Stack>
    </Alert>
  )
}
