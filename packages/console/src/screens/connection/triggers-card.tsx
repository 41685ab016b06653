import { ActionIcon, Badge, Card, Group, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { type ConnectionDetails, limits, type StartTrigger } from '@penstock/wire'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { CopyField } from '../../components/copy-field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { Time } from '../../components/time.tsx'
import { triggers as say } from '../../strings/run-conditions.ts'

/** The addresses that start transfers of the connection. */
export function TriggersCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('listTriggers', { accountId, id, query: { size: limits.triggersMax } })
  const forbidden = useForbidden('createTrigger')
  const remove = useWrite('deleteTrigger')
  const [adds, setAdds] = useState(false)
  const [url, setUrl] = useState<string>()
  const [removed, setRemoved] = useState<StartTrigger>()
  return (
    <Card withBorder padding="lg">
      <Group justify="space-between" mb="md">
        <Title order={2} size="h4">
          {say.title}
        </Title>
        <ReasonedButton
          variant="default"
          size="xs"
          leftSection={<IconPlus size={16} aria-hidden />}
          reason={forbidden ?? reason}
          onClick={() => setAdds(true)}
        >
          {say.add}
        </ReasonedButton>
      </Group>
      <Loaded query={query} lines={2} quiet>
        {({ reply }) => (
          <Stack gap="xs">
            {reply.length === 0 && <Text size="sm">{say.none}</Text>}
            <Text size="sm" c="dimmed">
              {say.help}
            </Text>
            {reply.map((trigger) => (
              <Group key={trigger.id} justify="space-between" wrap="nowrap">
                <Group gap="xs">
                  <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                    {trigger.name}
                  </Text>
                  {trigger.signed && <Badge variant="default">{say.signed}</Badge>}
                  {trigger.lastUsedTime !== null && (
                    <Text size="sm" c="dimmed">
                      {say.used} <Time seconds={trigger.lastUsedTime} />
                    </Text>
                  )}
                </Group>
                {forbidden === undefined && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={say.remove(trigger.name)}
                    onClick={() => setRemoved(trigger)}
                  >
                    <IconTrash size={18} aria-hidden />
                  </ActionIcon>
                )}
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
      {adds && <AddTrigger connection={connection} onMade={setUrl} onClose={() => setAdds(false)} />}
      {url !== undefined && (
        <ShownOnce
          title={say.title}
          warning={say.addressTitle}
          help={say.addressHelp}
          action={say.stored}
          onClose={() => setUrl(undefined)}
        >
          <CopyField label={say.address} value={url} />
        </ShownOnce>
      )}
      {removed && (
        <Confirm
          title={say.removeTitle}
          action={say.remove(removed.name)}
          onClose={() => setRemoved(undefined)}
          onConfirm={async () => {
            await remove.mutateAsync({ accountId, id: removed.id })
            notifyDone(say.removed)
          }}
        >
          {say.removeHelp}
        </Confirm>
      )}
    </Card>
  )
}

function AddTrigger({
  connection: { accountId, id },
  onMade,
  onClose,
}: {
  connection: ConnectionDetails
  onMade: (url: string) => void
  onClose: () => void
}) {
  const create = useWrite('createTrigger')
  const [name, setName] = useState('')
  const [secret, setSecret] = useState('')
  const save = async () => {
    const body = { name, ...(secret === '' ? {} : { dbtCloudSecret: secret }) }
    const { reply } = await create.mutateAsync({ accountId, id, body })
    onMade(reply.url)
    onClose()
  }
  return (
    <FormDialog title={say.add} action={say.add} onSubmit={save} onClose={onClose}>
      {(errorOf) => (
        <>
          <TextInput
            label={say.name}
            value={name}
            maxLength={limits.nameLengthMax}
            required
            data-autofocus
            error={errorOf('name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <PasswordInput
            label={say.secret}
            description={say.secretHelp}
            value={secret}
            autoComplete="off"
            error={errorOf('dbtCloudSecret')}
            onChange={({ currentTarget }) => setSecret(currentTarget.value)}
          />
        </>
      )}
    </FormDialog>
  )
}
