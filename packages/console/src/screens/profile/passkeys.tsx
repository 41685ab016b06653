import { Box, Group, Stack, Text } from '@mantine/core'
import type { Passkey } from '@penstock/wire'
import { canUsePasskeys } from '../../api/passkeys.ts'
import { useRead } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { DialogButton, FormDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { usePasskeyForm } from '../../components/passkey-form.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { passkeys as say } from '../../strings/passkeys.ts'

/** The passkeys of the person, each of which can be removed. */
export function Passkeys() {
  const query = useRead('listMyPasskeys', {})
  const add = (
    <DialogButton
      reason={canUsePasskeys() ? undefined : say.unusable}
      dialog={(close) => <AddPasskey onClose={close} />}
    >
      {say.add}
    </DialogButton>
  )
  return (
    <Section title={say.title} help={say.help} action={add} region>
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
    </Section>
  )
}

function Row({ passkey: { id, name, backedUp, createdTime, lastUsedTime } }: { passkey: Passkey }) {
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
      <DialogButton
        size="compact-sm"
        reason={undefined}
        aria-label={say.removeNamed(name)}
        dialog={(close) => (
          <ConfirmWrite
            title={say.removeTitle(name)}
            action={say.remove}
            operation="removePasskey"
            parameters={{ id }}
            done={say.removed(name)}
            onClose={close}
          >
            {say.removeHelp}
          </ConfirmWrite>
        )}
      >
        {say.remove}
      </DialogButton>
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
