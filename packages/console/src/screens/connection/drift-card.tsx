import { Radio, Stack, Text } from '@mantine/core'
import { type ConnectionDetails, type DriftMode, driftModes } from '@penstock/wire'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { Section } from '../../components/section.tsx'
import { columnChanges as say } from '../../strings/column-changes.ts'

/** The setting for changed columns. Changes that wait to be accepted are above all parts of the page. */
export function DriftCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('getDrift', { accountId, id })
  const set = useWrite('setDrift')
  const whyNot = useForbidden('setDrift') ?? reason
  const [chosen, setChosen] = useState<DriftMode>('ignore')
  const save = (drift: DriftMode) => {
    setChosen(drift)
    void notifyOutcome(set.mutateAsync({ accountId, id, body: { drift } }), say.saved)
  }
  return (
    <Section title={say.title}>
      <Loaded query={query} lines={3} quiet>
        {({ reply }) => (
          <Stack gap="md">
            <Radio.Group
              label={say.mode}
              description={whyNot}
              value={set.isPending ? chosen : reply.drift}
              onChange={(drift) => save(drift as DriftMode)}
            >
              <Stack gap="xs" mt="xs">
                {driftModes.map((mode) => (
                  <Radio
                    key={mode}
                    value={mode}
                    label={say.modes[mode]}
                    description={say.modesHelp[mode]}
                    disabled={whyNot !== undefined || set.isPending}
                  />
                ))}
              </Stack>
            </Radio.Group>
            <Text size="sm" c="dimmed">
              {reply.source ? say.known(reply.source.length, reply.destination?.length) : say.unknown}
            </Text>
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}
