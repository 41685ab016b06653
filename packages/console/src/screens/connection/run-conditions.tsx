import { Autocomplete, Badge, Divider, Group, NumberInput, Stack, Text, Title } from '@mantine/core'
import { type ConnectionDetails, type DependencyState, limits, type RunConditions } from '@penstock/wire'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { DialogButton, FormDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { PickSeveral } from '../../components/pick-several.tsx'
import { runConditions as say } from '../../strings/run-conditions.ts'

const colors: Readonly<Record<DependencyState, string>> = {
  done: 'teal',
  waiting: 'gray',
  failed: 'red',
  inactive: 'orange',
  deleted: 'orange',
}

/** The connections that it runs after, and its group; a part of the card of the schedule. */
export function RunConditionsPart({
  connection,
  reason,
}: {
  connection: ConnectionDetails
  reason: string | undefined
}) {
  const { accountId, id } = connection
  const query = useRead('getRunConditions', { accountId, id }, { againAfterMs: 30_000 })
  const whyNot = useForbidden('setRunConditions') ?? reason
  return (
    <>
      <Divider />
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5">
          {say.title}
        </Title>
        <DialogButton
          size="xs"
          reason={whyNot}
          aria-label={say.changeFull}
          dialog={(close) =>
            query.data && <EditRunConditions connection={connection} conditions={query.data.reply} onClose={close} />
          }
        >
          {say.change}
        </DialogButton>
      </Group>
      <Loaded query={query} lines={1} quiet>
        {({ reply: { runAfter, group } }) => (
          <Stack gap="xs">
            {runAfter.map(({ connectionId, name, state }) => (
              <Group key={connectionId} gap="xs">
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {name ?? say.removed}
                </Text>
                <Badge size="sm" variant="default" color={colors[state]}>
                  {say.states[state]}
                </Badge>
              </Group>
            ))}
            <Text size="sm" c="dimmed">
              {runAfter.length === 0 ? say.none : say.help}
            </Text>
            {group !== null && <Text size="sm">{say.group(group)}</Text>}
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function EditRunConditions({
  connection: { accountId, id },
  conditions,
  onClose,
}: {
  connection: ConnectionDetails
  conditions: RunConditions
  onClose: () => void
}) {
  const [setConditions, setGroups] = [useWrite('setRunConditions'), useWrite('setTransferGroups')]
  const query = { size: limits.pageSizeMax }
  const connections = useRead('listConnections', { accountId, query }).data?.reply ?? []
  const groups = useRead('listTransferGroups', { accountId, query: { size: limits.transferGroupsMax } }).data?.reply
  const [runAfter, setRunAfter] = useState(conditions.runAfter.map(({ connectionId }) => connectionId))
  const [group, setGroup] = useState(conditions.group ?? '')
  const [typedMax, setMax] = useState<number>()
  const name = group.trim()
  const known = groups?.find((one) => one.name === name)
  const max = typedMax ?? known?.transfersMax ?? 1
  const names = new Map([
    ...connections.filter(({ status }) => status !== 'deleted').map((one) => [one.id, one.name] as const),
    ...conditions.runAfter.map((one) => [one.connectionId, one.name ?? say.removed] as const),
  ])
  names.delete(id)
  const save = async () => {
    if (name && groups && known?.transfersMax !== max) {
      const others = groups.filter((one) => one !== known)
      const all = [...others, { name, transfersMax: max }].map((one) => ({
        name: one.name,
        transfersMax: one.transfersMax,
      }))
      await setGroups.mutateAsync({ accountId, body: { groups: all } })
    }
    await setConditions.mutateAsync({ accountId, id, body: { runAfter, group: name || null } })
    return say.saved
  }
  return (
    <FormDialog title={say.dialog} disabled={!groups} onSubmit={save} onClose={onClose}>
      {(errorOf, errorsIn) => (
        <>
          <PickSeveral
            label={say.connections}
            description={say.connectionsHelp}
            data={[...names].map(([value, label]) => ({ value, label }))}
            value={runAfter}
            searchable
            limit={100}
            maxValues={limits.runAfterMax}
            nothingFoundMessage={say.noneFound}
            error={errorOf('runAfter') ?? Object.values(errorsIn('runAfter')).join(' ')}
            data-autofocus
            onChange={setRunAfter}
          />
          <Autocomplete
            label={say.groupName}
            description={say.groupHelp}
            data={groups?.map((one) => one.name) ?? []}
            value={group}
            maxLength={limits.nameLengthMax}
            error={errorOf('group') ?? errorOf('groups')}
            onChange={(value) => {
              setGroup(value)
              setMax(undefined)
            }}
          />
          {name !== '' && (
            <NumberInput
              label={say.max}
              value={max}
              min={1}
              max={limits.groupTransfersMax}
              allowDecimal={false}
              onChange={(value) => setMax(Number(value) || 1)}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
