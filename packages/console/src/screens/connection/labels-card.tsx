import { Group, SimpleGrid, Stack } from '@mantine/core'
import type { ConnectionDetails, ConnectionLabels } from '@penstock/wire'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { EditTags } from '../../components/edit-tags.tsx'
import { Failure } from '../../components/failure.tsx'
import { PickOwner } from '../../components/labels.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Section } from '../../components/section.tsx'
import { labels as say } from '../../strings/labels.ts'

/** The tags and the owner of a connection, to change. */
export function LabelsCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('getConnectionLabels', { accountId, id })
  return (
    <Section title={say.title}>
      <Loaded query={query} lines={2} quiet>
        {({ reply }) => <Form key={JSON.stringify(reply)} labels={reply} reason={reason} />}
      </Loaded>
    </Section>
  )
}

function Form({ labels, reason }: { labels: ConnectionLabels; reason: string | undefined }) {
  const { accountId, connectionId: id } = labels
  const [tags, setTags] = useState([...labels.tags])
  const [owner, setOwner] = useState(labels.owner?.email ?? '')
  const set = useWrite('setConnectionLabels')
  const forbidden = useForbidden('setConnectionLabels') ?? reason
  const isSame = owner === (labels.owner?.email ?? '') && String(tags) === String(labels.tags)
  const save = () =>
    set.mutate(
      { accountId, id, body: { tags, ownerEmail: owner === '' ? null : owner } },
      { onSuccess: () => notifyDone(say.saved) },
    )
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
        <EditTags label={say.tags} accountId={accountId} value={tags} onChange={setTags} />
        <PickOwner owner={labels.owner} value={owner} onChange={setOwner} />
      </SimpleGrid>
      {set.error && <Failure error={set.error} />}
      <Group>
        <ReasonedButton variant="default" reason={forbidden} disabled={isSame} loading={set.isPending} onClick={save}>
          {say.save}
        </ReasonedButton>
      </Group>
    </Stack>
  )
}
