import { ActionIcon, Badge, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { type ConnectionDetails, limits } from '@penstock/wire'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { CopyField } from '../../components/copy-field.tsx'
import { DialogButton, FormDialog, useDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { Time } from '../../components/time.tsx'
import { triggers as say } from '../../strings/run-conditions.ts'

/** The addresses that start transfers of the connection. */
export function TriggersCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('listTriggers', { accountId, id, query: { size: limits.triggersMax } })
  const forbidden = useForbidden('createTrigger')
  const [dialog, open] = useDialog()
  const add = (
    <DialogButton
      size="xs"
      leftSection={<IconPlus size={16} aria-hidden />}
      reason={forbidden ?? reason}
      dialog={(close) => <AddTrigger connection={connection} onClose={close} />}
    >
      {say.add}
    </DialogButton>
  )
  return (
    <Section title={say.title} help={say.help} action={add}>
      <Loaded query={query} lines={2} quiet>
        {({ reply }) => (
          <Stack gap="xs">
            {reply.length === 0 && <Text size="sm">{say.none}</Text>}
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
                    onClick={() =>
                      open((close) => (
                        <ConfirmWrite
                          title={say.removeTitle}
                          action={say.remove(trigger.name)}
                          operation="deleteTrigger"
                          parameters={{ accountId, id: trigger.id }}
                          done={say.removed}
                          onClose={close}
                        >
                          {say.removeHelp}
                        </ConfirmWrite>
                      ))
                    }
                  >
                    <IconTrash size={18} aria-hidden />
                  </ActionIcon>
                )}
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
      {dialog}
    </Section>
  )
}

/** Adds a trigger, and shows its address. */
function AddTrigger({
  connection: { accountId, id },
  onClose,
}: {
  connection: ConnectionDetails
  onClose: () => void
}) {
  const create = useWrite('createTrigger')
  const [name, setName] = useState('')
  const [secret, setSecret] = useState('')
  const save = async () => {
    const body = { name, ...(secret === '' ? {} : { dbtCloudSecret: secret }) }
    await create.mutateAsync({ accountId, id, body })
  }
  if (create.data) {
    const words = { title: say.title, warning: say.addressTitle, help: say.addressHelp, action: say.stored }
    return (
      <ShownOnce {...words} onClose={onClose}>
        <CopyField label={say.address} value={create.data.reply.url} />
      </ShownOnce>
    )
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
