import { Box, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { Transfer } from '@penstock/wire'
import { useState } from 'react'
import { count, percent } from '../../components/numbers.ts'
import { Empty } from '../../components/page.tsx'
import { Section } from '../../components/section.tsx'
import { TransferBadge, transferColors } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { stillRejected } from '../../components/volume.ts'
import { connection as say } from '../../strings/connection.ts'
import type { VolumeOfConnection } from './use-volume.ts'

type Stage = { label: string; help: string; n: number; colour: string }

/** How many records came through: of the latest transfer, or of all transfers of the last 30 days. */
export function Funnel({ latest, volume }: { latest: Transfer | undefined; volume: VolumeOfConnection | undefined }) {
  const [shown, setShown] = useState<'latest' | 'month'>('latest')
  const replayed = shown === 'month' ? (volume?.total.replayed ?? 0) : 0
  const stages =
    shown === 'latest'
      ? latest && stagesOf(latest.records)
      : volume && stagesOf({ ...volume.total, rejected: stillRejected(volume.total) })
  const pick = (
    <SegmentedControl
      size="xs"
      aria-label={say.funnelOf}
      value={shown}
      onChange={(next) => setShown(next === 'month' ? 'month' : 'latest')}
      data={[
        { value: 'latest', label: say.latest },
        { value: 'month', label: say.month },
      ]}
    />
  )
  return (
    <Section title={say.funnel} action={pick} fill>
      {!stages || stages.every(({ n }) => n === 0) ? (
        shown === 'latest' ? (
          latest ? (
            <Stages stages={stages ?? []} />
          ) : (
            <Empty title={say.noTransfer} help={say.noTransferHelp} />
          )
        ) : (
          <Empty title={say.noVolume} />
        )
      ) : (
        <Stages stages={stages} />
      )}
      {shown === 'latest' && latest && (
        <Group gap="xs" fz="sm" c="dimmed">
          <TransferBadge transfer={latest} />
          <Time seconds={latest.createdTime} />
        </Group>
      )}
      {replayed > 0 && (
        <Text size="sm" c="dimmed">
          {say.replayed(count(replayed))}
        </Text>
      )}
    </Section>
  )
}

function stagesOf(records: { read: number; sent?: number; accepted: number; rejected: number }): Stage[] {
  return [
    { label: say.read, help: say.readHelp, n: records.read, colour: 'water-4' },
    ...(records.sent === undefined
      ? []
      : [{ label: say.sent, help: say.sentHelp, n: records.sent, colour: 'water-6' }]),
    { label: say.accepted, help: say.acceptedHelp, n: records.accepted, colour: `${transferColors.succeeded}-6` },
    { label: say.rejected, help: say.rejectedHelp, n: records.rejected, colour: `${transferColors.failed}-6` },
  ]
}

function Stages({ stages }: { stages: readonly Stage[] }) {
  const whole = stages[0]?.n ?? 0
  return (
    <Stack gap="md" component="dl" m={0}>
      {stages.map(({ label, help, n, colour }) => (
        <div
          key={label}
          style={{ display: 'grid', gridTemplateColumns: 'minmax(0, 1fr) auto', columnGap: 8, alignItems: 'baseline' }}
        >
          <Text component="dt" size="sm">
            {label}{' '}
            <Text span size="xs" c="dimmed">
              {help}
            </Text>
          </Text>
          <Text component="dd" m={0} fw={600} className="figures" style={{ whiteSpace: 'nowrap' }}>
            {count(n)}
            {whole > 0 && (
              <Text span size="sm" c="dimmed" fw={400} ml={8} miw={52} ta="right" display="inline-block">
                {percent(n / whole)}
              </Text>
            )}
          </Text>
          <Bar part={whole > 0 ? n / whole : 0} colour={colour} />
        </div>
      ))}
    </Stack>
  )
}

/** Never nothing if there is something. */
function Bar({ part, colour }: { part: number; colour: string }) {
  const width = part > 0 ? Math.min(100, Math.max(1, part * 100)) : 0
  return (
    <Box
      component="dd"
      aria-hidden
      m={0}
      mt={6}
      h={10}
      style={{ gridColumn: '1 / -1', borderRadius: 5, background: 'var(--mantine-color-default-hover)' }}
    >
      <Box
        h="100%"
        w={`${width}%`}
        style={{ borderRadius: 5, background: `var(--mantine-color-${colour})`, transition: 'width 400ms ease' }}
      />
    </Box>
  )
}
