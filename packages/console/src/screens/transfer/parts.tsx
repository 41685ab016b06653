import { Badge, Box, Table, Text } from '@mantine/core'
import { limits, type Transfer, type TransferPart } from '@penstock/wire'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { notifyOutcome } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Section } from '../../components/section.tsx'
import { transferColors } from '../../components/status.tsx'
import { transferParts as say } from '../../strings/transfer-parts.ts'
import { isActive } from '../connection/use-connection.ts'

const liveMs = 3_000

const colors: Readonly<Record<TransferPart['status'], string>> = { ...transferColors, skipped: 'gray' }

type Words = Pick<typeof say, 'title' | 'help' | 'number' | 'retry' | 'retried' | 'more'>

const wordsOf = (part: TransferPart | undefined): Words => (part?.table === undefined ? say : say.ofTables)

/** The parts of a transfer that several workers share, or its tables; nothing for one that was not divided. */
export function Parts({ transfer }: { transfer: Transfer }) {
  const { accountId, connectionId: id, id: transferId } = transfer
  const query = useRead(
    'listTransferParts',
    { accountId, id, transferId, query: { size: limits.pageSizeMax } },
    { againAfterMs: isActive(transfer) ? liveMs : 0, keep: true },
  )
  const { reply = [], total = 0 } = query.data ?? {}
  if (reply.length === 0) return null
  const words = wordsOf(reply[0])
  const done = reply.filter(({ status }) => status === 'succeeded').length
  return (
    <Section
      title={words.title}
      help={words.help(done, reply.length)}
      action={!isActive(transfer) && done < reply.length && <Retry transfer={transfer} words={words} />}
    >
      <Box tabIndex={0} role="region" aria-label={words.title} mah="26rem" style={{ overflow: 'auto' }}>
        <Table className="figures">
          <Table.Thead>
            <Table.Tr>
              {[words.number, say.status, say.read, say.accepted, say.rejected, say.attempt].map((label) => (
                <Table.Th key={label}>{label}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {reply.map((part) => (
              <Row key={part.number} part={part} />
            ))}
          </Table.Tbody>
        </Table>
      </Box>
      {total > reply.length && (
        <Text size="sm" c="dimmed">
          {words.more(count(total - reply.length))}
        </Text>
      )}
    </Section>
  )
}

/** Continues the parts that did not succeed; the service says if they cannot be. */
function Retry({ transfer: { accountId, connectionId, id }, words }: { transfer: Transfer; words: Words }) {
  const retry = useWrite('retryTransfer')
  return (
    <ReasonedButton
      variant="default"
      size="sm"
      reason={useForbidden('retryTransfer')}
      loading={retry.isPending}
      onClick={() =>
        void notifyOutcome(retry.mutateAsync({ accountId, id: connectionId, transferId: id }), words.retried)
      }
    >
      {words.retry}
    </ReasonedButton>
  )
}

function Row({ part: { number, table, status, records, attempt, error } }: { part: TransferPart }) {
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{table ?? count(number)}</Table.Td>
      <Table.Td>
        <Badge variant="dot" color={colors[status]} fw={500}>
          {say.statuses[status]}
        </Badge>
        {error && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {error.message}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{count(records.read)}</Table.Td>
      <Table.Td>{count(records.accepted)}</Table.Td>
      <Table.Td>{count(records.rejected)}</Table.Td>
      <Table.Td>{count(attempt)}</Table.Td>
    </Table.Tr>
  )
}
