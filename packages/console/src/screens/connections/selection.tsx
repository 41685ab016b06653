import { Button, CloseButton, Group, List, Modal, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { SelectionBar } from '../../components/selection-bar.tsx'
import { useFirst } from '../../components/use-first.tsx'
import { connections as say } from '../../strings/connections.ts'
import { labels as labelWords } from '../../strings/labels.ts'
import { callEach, type Refusal } from './call-each.ts'
import type { AddedLabels } from './tag-selected.tsx'
import type { Listed } from './use-connections.ts'

const TagSelected = lazy(() => import('./tag-selected.tsx').then(({ TagSelected }) => ({ default: TagSelected })))

type Act = 'run' | 'activate' | 'disable' | 'tag' | 'delete'
type Call = (connection: Listed) => Promise<unknown>

/** How many connections a question names. */
const namedMax = 5

/** Actions on the selected connections. Refusals are listed with their reasons. */
export function Selection({ picked, onClear }: { picked: readonly Listed[]; onClear: () => void }) {
  const start = useWrite('startTransfer')
  const move = useWrite('updateConnectionStatus')
  const remove = useWrite('deleteConnection')
  const label = useWrite('setConnectionLabels')
  const [busy, setBusy] = useState<Act>()
  const [dialog, open] = useDialog()
  const forbidden = {
    run: useForbidden('startTransfer'),
    activate: useForbidden('updateConnectionStatus'),
    disable: useForbidden('updateConnectionStatus'),
    tag: useForbidden('setConnectionLabels'),
    delete: useForbidden('deleteConnection'),
  }

  const calls: Readonly<Record<Exclude<Act, 'tag'>, Call>> = {
    run: ({ accountId, id }) => start.mutateAsync({ accountId, id, body: {} }),
    activate: ({ accountId, id }) => move.mutateAsync({ accountId, id, body: { action: 'activate' } }),
    disable: ({ accountId, id }) => move.mutateAsync({ accountId, id, body: { action: 'disable' } }),
    delete: ({ accountId, id }) => remove.mutateAsync({ accountId, id }),
  }

  const addLabels =
    ({ tags, ownerEmail }: AddedLabels): Call =>
    async ({ accountId, id }) => {
      const { reply } = await readOnce('getConnectionLabels', { accountId, id })
      const own = new Set(reply.tags.map((tag) => tag.toLowerCase()))
      const all = [...reply.tags, ...tags.filter((tag) => !own.has(tag.trim().toLowerCase()))]
      await label.mutateAsync({
        accountId,
        id,
        body: { tags: all, ...(ownerEmail === undefined ? {} : { ownerEmail }) },
      })
    }

  const act = async (what: Act, call: Call) => {
    setBusy(what)
    const refusals = await callEach(picked, call)
    setBusy(undefined)
    const done = picked.length - refusals.length
    if (done > 0) notifyDone(say.did[what](done))
    if (refusals.length > 0) open((close) => <Refused refusals={refusals} of={picked.length} onClose={close} />)
    else onClear()
  }

  const button = (what: Act, label: string, onClick: () => void) => (
    <ReasonedButton
      size="sm"
      variant="default"
      reason={forbidden[what]}
      loading={busy === what}
      disabled={busy !== undefined && busy !== what}
      onClick={onClick}
    >
      {label}
    </ReasonedButton>
  )
  const askToTag = () =>
    open((close) => (
      <Suspense fallback={null}>
        <TagSelected n={picked.length} onSubmit={(added) => act('tag', addLabels(added))} onClose={close} />
      </Suspense>
    ))
  const askToDelete = () =>
    open((close) => (
      <Confirm
        title={say.deleteTitle(picked.length)}
        action={say.delete}
        onConfirm={() => act('delete', calls.delete)}
        onClose={close}
      >
        {say.deleteHelp}
        <Names of={picked} />
      </Confirm>
    ))
  return (
    <>
      {picked.length > 0 && (
        <SelectionBar label={say.selection}>
          <Text fw={600} size="sm" role="status">
            {say.selected(picked.length)}
          </Text>
          <Group gap="xs">
            {button('run', say.run, () => void act('run', calls.run))}
            {button('activate', say.activate, () => void act('activate', calls.activate))}
            {button('disable', say.disable, () => void act('disable', calls.disable))}
            {button('tag', labelWords.bulk, askToTag)}
            {button('delete', say.delete, askToDelete)}
            <CloseButton aria-label={say.clearSelection} onClick={onClear} />
          </Group>
        </SelectionBar>
      )}
      {dialog}
    </>
  )
}

function Names({ of }: { of: readonly Listed[] }) {
  const { shown, more } = useFirst(of, namedMax)
  return (
    <>
      <List size="sm" mt="xs">
        {shown.map(({ id, name }) => (
          <List.Item key={id} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </List.Item>
        ))}
      </List>
      {more}
    </>
  )
}

/** Lists the refusals with their reasons. */
export function Refused({ refusals, of, onClose }: { refusals: readonly Refusal[]; of: number; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={say.refused(refusals.length, of)}>
      <Stack>
        <List size="sm" spacing="xs">
          {refusals.map(({ connection: { id, name }, why }) => (
            <List.Item key={id} style={{ overflowWrap: 'anywhere' }}>
              <Text span inherit fw={600}>
                {name}
              </Text>
              {`: ${why}`}
            </List.Item>
          ))}
        </List>
        <Group justify="flex-end">
          <Button onClick={onClose}>{say.understood}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
