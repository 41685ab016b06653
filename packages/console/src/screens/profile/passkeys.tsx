import { Box, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { Passkey } from '@penstock/wire'
import { useState } from 'react'
import { canUsePasskeys } from '../../api/passkeys.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { usePasskeyForm } from '../../components/passkey-form.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { passkeys as say } from '../../strings/passkeys.ts'

/** The passkeys of the person, each of which can be removed. */
export function Passkeys() {
  const query = useRead('listMyPasskeys', {})
  const [adding, setAdding] = useState(false)
  return (
    <Card withBorder padding="lg" component="section" aria-label={say.title}>
      <Stack>
        <Group justify="space-between" align="flex-start">
          <div>
            <Title order={2} size="h5">
              {say.title}
            </Title>
            <Text size="sm" c="dimmed">
              {say.help}
            </Text>
          </div>
          <ReasonedButton
            variant="default"
            reason={canUsePasskeys() ? undefined : say.unusable}
            onClick={() => setAdding(true)}
          >
            {say.add}
          </ReasonedButton>
        </Group>
        <Loaded query={query} lines={1}>
          {({ reply }) =>
            reply.length === 0 ? (
              <Text size="sm">{say.none}</Text>
            ) : (
              <Stack gap="md" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
                {reply.map((passkey) => (
                  <li key={passkey.id}>
                    <Row passkey={passkey} />
                  </li>
                ))}
              </Stack>
            )
          }
        </Loaded>
      </Stack>
      {adding && <AddPasskey onClose={() => setAdding(false)} />}
    </Card>
  )
}

function Row({ passkey: { id, name, backedUp, createdTime, lastUsedTime } }: { passkey: Passkey }) {
  const remove = useWrite('removePasskey')
  const [asked, setAsked] = useState(false)
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start">
      <Box miw={0} style={{ overflowWrap: 'anywhere' }}>
        <Text fw={550} size="sm">
          {name}
        </Text>
        <Text size="sm" c="dimmed">
          {say.created} <Time seconds={createdTime} /> · {say.lastUsed} <Time seconds={lastUsedTime} />
          {backedUp && ` · ${say.backedUp}`}
        </Text>
      </Box>
      <Button size="compact-sm" variant="default" aria-label={say.removeNamed(name)} onClick={() => setAsked(true)}>
        {say.remove}
      </Button>
      {asked && (
        <Confirm
          title={say.removeTitle(name)}
          action={say.remove}
          onClose={() => setAsked(false)}
          onConfirm={async () => {
            await remove.mutateAsync({ id })
            notifyDone(say.removed(name))
          }}
        >
          {say.removeHelp}
        </Confirm>
      )}
    </Group>
  )
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const { fields, submit } = usePasskeyForm(onClose)
  return (
    <FormDialog title={say.add} action={say.add} onSubmit={submit} onClose={onClose}>
      {fields}
    </FormDialog>
  )
}
