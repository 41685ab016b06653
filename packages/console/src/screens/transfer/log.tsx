import { Box, Button, CopyButton, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { limits, type Transfer, type TransferLogKind, type TransferLogLine } from '@penstock/wire'
import {
  IconAlertTriangle,
  IconCheck,
  IconColumns,
  IconCopy,
  IconDots,
  IconFlag,
  IconHourglass,
  IconLogin,
  IconMessage,
  IconPlayerPlay,
  IconRoute,
  IconSend,
} from '@tabler/icons-react'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { transferLog as say } from '../../strings/transfer-log.ts'
import { isActive } from '../connection/use-connection.ts'

const icons: Readonly<Record<TransferLogKind, typeof IconCheck>> = {
  began: IconPlayerPlay,
  opened: IconLogin,
  route: IconRoute,
  columns: IconColumns,
  sent: IconSend,
  confirmed: IconCheck,
  rejected: IconAlertTriangle,
  waiting: IconHourglass,
  reported: IconMessage,
  noted: IconAlertTriangle,
  dropped: IconDots,
  ended: IconFlag,
}
const liveMs = 3_000

const problems: readonly TransferLogKind[] = ['waiting', 'rejected', 'columns', 'noted', 'dropped']

/** Whether a line says that something waited or went wrong: also the end of an attempt that did not deliver everything. */
const isProblem = ({ kind, attempt }: TransferLogLine, transfer: Transfer): boolean => {
  if (kind !== 'ended') return problems.includes(kind)
  return attempt !== transfer.attempt || !(transfer.status === 'succeeded' || transfer.status === 'partial')
}

/** The log of each attempt, line by line, to follow and to copy. */
export function Log({ transfer }: { transfer: Transfer }) {
  const { accountId, connectionId: id, id: transferId } = transfer
  const query = useRead(
    'listTransferLog',
    { accountId, id, transferId, query: { size: limits.pageSizeMax } },
    { againAfterMs: isActive(transfer) ? liveMs : 0, keep: true },
  )
  const [only, setOnly] = useState<'all' | 'problems'>('all')
  const { reply = [], total = reply.length } = query.data ?? {}
  const shown = only === 'all' ? reply : reply.filter((line) => isProblem(line, transfer))
  const actions = reply.length > 0 && (
    <Group gap="sm">
      <SegmentedControl
        size="xs"
        aria-label={say.shown}
        data={[
          { value: 'all', label: say.all },
          { value: 'problems', label: say.problems },
        ]}
        value={only}
        onChange={setOnly}
      />
      <CopyButton value={textOf(shown)}>
        {({ copied, copy }) => (
          <Button
            variant="default"
            size="sm"
            leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            onClick={copy}
          >
            {copied ? say.copied : say.copy}
          </Button>
        )}
      </CopyButton>
    </Group>
  )
  return (
    <Section title={say.title} action={actions}>
      <Loaded query={query} lines={4} quiet>
        {() =>
          shown.length > 0 ? (
            <Lines lines={shown} />
          ) : (
            <Text size="sm" c="dimmed" {...(reply.length > 0 && { role: 'status' })}>
              {reply.length > 0 ? say.noProblems : say.none}
            </Text>
          )
        }
      </Loaded>
      {total > reply.length && (
        <Text size="sm" c="dimmed">
          {say.more(total - reply.length)}
        </Text>
      )}
    </Section>
  )
}

function Lines({ lines }: { lines: readonly TransferLogLine[] }) {
  const attempts = Map.groupBy(lines, ({ attempt }) => attempt)
  return (
    <Box tabIndex={0} role="region" aria-label={say.title} mah="26rem" style={{ overflowY: 'auto' }}>
      {[...attempts].map(([attempt, of]) => (
        <Box key={attempt} component="section" aria-label={say.attempt(attempt)} mb="sm">
          {attempts.size > 1 && (
            <Text fw={600} size="sm" mb={4}>
              {say.attempt(attempt)}
            </Text>
          )}
          <Stack component="ol" gap={4} m={0} p={0} style={{ listStyle: 'none' }}>
            {of.map((line) => (
              <Line key={line.number} line={line} />
            ))}
          </Stack>
        </Box>
      ))}
    </Box>
  )
}

function Line({ line: { kind, time, text } }: { line: TransferLogLine }) {
  const Icon = icons[kind]
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <Text size="sm" c="dimmed" className="figures" style={{ flex: 'none' }}>
        {clockOf(time)}
      </Text>
      <Icon size={16} aria-hidden style={{ flex: 'none', marginTop: 3 }} />
      <Text size="sm" fw={kind === 'waiting' ? 600 : undefined} style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {text}
      </Text>
    </Group>
  )
}

const clockOf = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString('en-GB')

/** The lines as text, with whole times in UTC. */
const textOf = (lines: readonly TransferLogLine[]): string =>
  lines
    .map(({ attempt, time, text }) => `${new Date(time * 1000).toISOString()} ${say.attempt(attempt)}: ${text}`)
    .join('\n')
