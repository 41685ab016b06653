import { Stack, Text } from '@mantine/core'
import type { Transfer } from '@penstock/wire'
import type { ReactNode } from 'react'
import { count } from '../../components/numbers.ts'
import { Section } from '../../components/section.tsx'
import { duration, Time } from '../../components/time.tsx'
import { transfer as say } from '../../strings/transfer.ts'
import { startOf } from './start-of.ts'

/** When the transfer was asked for, how long it waited and took, and how often a worker claimed it. */
export function Timing({ transfer, nowMs }: { transfer: Transfer; nowMs: number }) {
  const { createdTime, startedTime, finishedTime, records, attempt } = transfer
  const now = Math.floor(nowMs / 1000)
  const took = startedTime === null ? undefined : Math.max(0, (finishedTime ?? now) - startedTime)
  const queued = Math.max(0, (startedTime ?? finishedTime ?? now) - createdTime)
  return (
    <Section title={say.timing} fill>
      <Stack component="dl" gap="xs" m={0}>
        <Fact label={say.trigger}>{startOf(transfer)}</Fact>
        <Fact label={say.requested}>
          <Time seconds={createdTime} />
        </Fact>
        <Fact label={say.queuedFor}>{shownSeconds(queued)}</Fact>
        <Fact label={say.took}>{took === undefined ? say.notYet : shownSeconds(took)}</Fact>
        {took !== undefined && took > 0 && records.read > 0 && (
          <Fact label={say.speed}>{say.rowsPerSecond(count(Math.round(records.read / took)))}</Fact>
        )}
        <Fact label={say.ended}>{finishedTime === null ? say.notYet : <Time seconds={finishedTime} />}</Fact>
        <Fact label={say.attempts}>{say.attemptsOf(attempt)}</Fact>
      </Stack>
    </Section>
  )
}

const shownSeconds = (seconds: number): string => (seconds < 1 ? say.underSecond : duration(seconds))

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div style={{ display: 'grid', gridTemplateColumns: '7rem minmax(0, 1fr)', gap: '0.75rem' }}>
      <Text component="dt" size="sm" c="dimmed">
        {label}
      </Text>
      <Text component="dd" size="sm" m={0} className="figures">
        {children}
      </Text>
    </div>
  )
}
