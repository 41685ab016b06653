import { ActionIcon, Alert, Code, CopyButton, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { type EventStream, limits, type StreamKey } from '@penstock/wire'
import { IconCheck, IconCopy, IconKey, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { CopyField } from '../../components/copy-field.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { streams as say } from '../../strings/streams.ts'
import { type SnippetKind, snippetKinds, snippetOf } from './snippets.ts'

/**
 * The address of a stream, its write keys, and examples that work as they are.
 * @param newKey a key that was created on this page, which is not shown again
 */
export function WhereToSend({
  stream,
  newKey,
  onNewKey,
}: {
  stream: EventStream
  newKey: string | undefined
  onNewKey: (key: string | undefined) => void
}) {
  const { id, accountId, address, host, callbackAddress, keys } = stream
  const create = useWrite('createStreamKey')
  const reason = useForbidden('createStreamKey')
  const [kind, setKind] = useState<SnippetKind>('curl')
  const createKey = async () => onNewKey((await create.mutateAsync({ accountId, id })).reply.key)
  const snippet = snippetOf(kind, { address, host, key: newKey ?? say.keyHere })
  return (
    <Section title={say.send} region>
      {callbackAddress === null ? (
        <CopyField label={say.address} value={address} />
      ) : (
        <CopyField label={say.callbackAddress} value={callbackAddress.replace(say.keyHere, newKey ?? say.keyHere)} />
      )}
      {newKey !== undefined && (
        <Alert color="yellow" icon={<IconKey aria-hidden />} title={say.keyOnce}>
          <CopyField label={say.key} value={newKey} />
        </Alert>
      )}
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          {say.snippets}
        </Text>
        <SegmentedControl
          aria-label={say.snippets}
          data={snippetKinds.map((value) => ({ value, label: say.snippet[value] }))}
          value={kind}
          onChange={(next) => setKind(next as SnippetKind)}
        />
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <Code block tabIndex={0} role="region" aria-label={say.snippets} style={{ flex: 1, overflow: 'auto' }}>
            {snippet}
          </Code>
          <CopyButton value={snippet}>
            {({ copied, copy }) => (
              <ActionIcon variant="default" size={36} aria-label={copied ? say.copied : say.copySnippet} onClick={copy}>
                {copied ? <IconCheck size={18} aria-hidden /> : <IconCopy size={18} aria-hidden />}
              </ActionIcon>
            )}
          </CopyButton>
        </Group>
      </Stack>
      <Keys stream={stream} onDeleted={() => onNewKey(undefined)} />
      <Group>
        <ReasonedButton
          variant="default"
          reason={reason}
          disabled={keys.length >= limits.streamKeysMax}
          loading={create.isPending}
          onClick={() => void notifyOutcome(createKey(), say.keyCreated)}
        >
          {say.createKey}
        </ReasonedButton>
      </Group>
    </Section>
  )
}

function Keys({ stream: { accountId, keys }, onDeleted }: { stream: EventStream; onDeleted: () => void }) {
  const [dialog, open] = useDialog()
  const reason = useForbidden('deleteStreamKey')
  return (
    <Stack gap="xs">
      <div>
        <Text size="sm" fw={500}>
          {say.keys}
        </Text>
        <Text size="sm" c="dimmed">
          {keys.length > 0 ? say.keysHelp : say.noKeys}
        </Text>
      </div>
      {keys.map((key) => (
        <Group key={key.id} justify="space-between" gap="sm" wrap="nowrap">
          <div>
            <Text size="sm">{say.keyEnds(key.hint)}</Text>
            <Text size="xs" c="dimmed">
              <Used streamKey={key} />
            </Text>
          </div>
          {reason === undefined && (
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={say.deleteKey(key.hint)}
              onClick={() =>
                open((close) => (
                  <ConfirmWrite
                    title={say.deleteKeyTitle}
                    action={say.deleteKeyAction}
                    operation="deleteStreamKey"
                    parameters={{ accountId, id: key.id }}
                    done={say.keyDeleted}
                    onDone={onDeleted}
                    onClose={close}
                  >
                    {say.deleteKeyHelp}
                  </ConfirmWrite>
                ))
              }
            >
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      ))}
      {dialog}
    </Stack>
  )
}

function Used({ streamKey: { lastUsedTime } }: { streamKey: StreamKey }) {
  if (lastUsedTime === null) return say.keyNeverUsed
  return (
    <>
      {say.keyUsed} <Time seconds={lastUsedTime} />
    </>
  )
}
