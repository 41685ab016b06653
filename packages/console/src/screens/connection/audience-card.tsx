import { Alert, Badge, Box, Group, Skeleton, Stack, Text } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { lazy, Suspense } from 'react'
import { useRead } from '../../api/queries.ts'
import { matchOf, sizeOf } from '../../components/audience-size.ts'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { audiences as say } from '../../strings/audiences.ts'
import type { FoundAudience } from './audience-lines.tsx'

const AudienceLines = lazy(() => import('./audience-lines.tsx'))
const heightPx = 190

/** The figures of the platform about the audiences that a connection feeds; nothing if there are none to ask for. */
export function AudienceCard({ connection: { accountId, id, dest } }: { connection: ConnectionDetails }) {
  const { destination } = useRead('getConnectorDefinition', { id: dest.connectorId }).data?.reply ?? {}
  const enabled = destination?.audienceSizes === true
  const audiences = useRead('getConnectionState', { accountId, id }, { enabled }).data?.reply.audiences
  if (!audiences) return null
  const { measuredTime, problem, found } = audiences
  return (
    <Section title={say.title} help={say.help} region>
      <Stack gap="md">
        {problem !== null && (
          <Alert color="yellow" title={say.problem}>
            {problem}
          </Alert>
        )}
        {found.length === 0 && <Text size="sm">{measuredTime === null ? say.none : say.noneFound}</Text>}
        {found.map((audience) => (
          <Audience key={audience.id} audience={audience} />
        ))}
        {measuredTime !== null && (
          <Text size="sm" c="dimmed">
            {say.asked} <Time seconds={measuredTime} />
          </Text>
        )}
      </Stack>
    </Section>
  )
}

function Audience({ audience }: { audience: FoundAudience }) {
  const { id, name, status, days } = audience
  const title = name ?? id
  return (
    <Stack gap={4}>
      <Group gap="xs" justify="space-between">
        <Text fw={550} style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Text>
        {status !== null && (
          <Badge variant="light" color="gray" tt="none">
            {status}
          </Badge>
        )}
      </Group>
      <Text size="sm">{[sizeOf(audience), matchOf(audience)].filter(Boolean).join(' · ')}</Text>
      {days.filter(({ high }) => high !== null).length > 1 && (
        <Box role="img" aria-label={say.chart(title)} mih={heightPx}>
          <Suspense fallback={<Skeleton height={heightPx} radius="sm" />}>
            <AudienceLines days={days} heightPx={heightPx} />
          </Suspense>
        </Box>
      )}
    </Stack>
  )
}
