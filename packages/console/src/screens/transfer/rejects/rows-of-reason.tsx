import { Alert, Card, Chip, Group, Kbd, Stack, Text, Title } from '@mantine/core'
import { type ConnectionDetails, type Reject, rejectStates, type Transfer } from '@penstock/wire'
import { IconLock, IconPencil } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../../api/me.ts'
import { useAddress } from '../../../components/address.ts'
import { count } from '../../../components/numbers.ts'
import { Pager, pageSize } from '../../../components/pager.tsx'
import { ReasonedButton } from '../../../components/reasoned.tsx'
import { rejects as say } from '../../../strings/rejects.ts'
import { isActive } from '../../connection/use-connection.ts'
import { pathOfTransfer } from '../paths.ts'
import { Correct } from './correct.tsx'
import { groupScopeOf, keysOf, type Scope } from './correction.ts'
import { type FieldOfRecord, isOfValues, type ReasonGroup } from './groups.ts'
import { aboutOf, titleOf } from './reasons.tsx'
import { KeyHints, RejectTable, rowInWords, tableKeys } from './reject-table.tsx'
import { countStates, isCorrectedFirst, useFirstRejects } from './use-rejects.ts'

/** The rows of a reason, or all of them, by state; and their correction. */
export function RowsOfReason({
  transfer,
  connection,
  rejects,
  groups,
  group,
  columnOf,
  reason,
}: {
  transfer: Transfer
  connection: ConnectionDetails
  rejects: readonly Reject[]
  groups: readonly ReasonGroup[]
  /** Undefined: all rows. */
  group: ReasonGroup | undefined
  columnOf: (fault: FieldOfRecord) => string | undefined
  /** Why nothing can be sent again now. */
  reason: string | undefined
}) {
  const { value, page, change } = useAddress()
  const forbidden = useForbidden('editRejects')
  const [correcting, setCorrecting] = useState<{ readonly reject: Reject; readonly start: Scope }>()
  const first = useFirstRejects(transfer)
  const correctedRows = new Set(
    [...first, ...rejects].filter((one) => one.state === 'corrected').map(({ number }) => number),
  )
  const all = group ? group.rejects : rejects
  const states = countStates(all)
  const correctsFirst = isCorrectedFirst(first, columnOf)
  const state = rejectStates.find((one) => one === value('state') && states.has(one))
  const fitting = state ? all.filter((one) => one.state === state) : all
  const shown = fitting.slice(page * pageSize, (page + 1) * pageSize)
  const isSending = rejects.some((one) => one.state === 'sending')
  const isEditable = !isActive(transfer) && !transfer.test && !isSending
  const open = group?.rejects.filter(({ editable }) => editable) ?? []
  const keys = keysOf(connection.destConnectionConfig)
  const ofCorrected =
    correcting && groups.find((one) => one.rejects.some(({ number }) => number === correcting.reject.number))
  const isLocked = group?.rejects.some((one) => one.state === 'needs_correction') ?? false
  return (
    <Card withBorder padding={0}>
      <Group justify="space-between" gap="sm" p="md" align="flex-start">
        <div style={{ flex: '1 1 14rem', minWidth: 0, overflowWrap: 'anywhere' }}>
          <Title order={3} size="h5">
            {group ? titleOf(group) : say.everyTitle}
          </Title>
          {group && (
            <Text size="sm" c="dimmed">
              {aboutOf(group)}
            </Text>
          )}
        </div>
        {open.length > 0 && isEditable && (
          <ReasonedButton
            size="sm"
            leftSection={<IconPencil size={16} aria-hidden />}
            variant={group && correctsFirst && isOfValues(group) ? 'filled' : 'default'}
            reason={forbidden}
            onClick={() => group && setCorrecting({ reject: open[0] as Reject, start: groupScopeOf(group, keys) })}
          >
            {open.length === 1
              ? say.correctRow(rowInWords(open[0] as Reject))
              : say.correctRows(open.length, count(open.length))}
          </ReasonedButton>
        )}
      </Group>
      <Stack gap="sm" px="md">
        {isLocked && (
          <Alert color="yellow" p="xs" icon={<IconLock aria-hidden />} title={say.lockedTitle}>
            {say.lockedHelp}
          </Alert>
        )}
        {states.size > 1 && (
          <Chip.Group value={state ?? ''} onChange={(next) => change({ state: String(next) })}>
            <Group gap="xs" role="group" aria-label={say.stateFilter}>
              <Chip value="" size="xs" variant="outline">
                {say.everyState} {count(all.reduce((sum, { count: n }) => sum + n, 0))}
              </Chip>
              {rejectStates.map(
                (one) =>
                  states.has(one) && (
                    <Chip key={one} value={one} size="xs" variant="outline">
                      {say.states[one]} {count(states.get(one) ?? 0)}
                    </Chip>
                  ),
              )}
            </Group>
          </Chip.Group>
        )}
      </Stack>
      <RejectTable
        rejects={shown}
        columnOf={columnOf}
        pathOf={(id) => pathOfTransfer({ ...transfer, id })}
        onCorrect={
          isEditable && forbidden === undefined ? (reject) => setCorrecting({ reject, start: 'one' }) : undefined
        }
      />
      <Stack gap="xs" p="md">
        <Pager total={fitting.length} />
        <KeyHints>
          {tableKeys.map(([keys, does], at) => (
            <span key={does}>
              {at > 0 && ' · '}
              {keys.map((key) => (
                <Kbd key={key} size="xs" mr={4}>
                  {key}
                </Kbd>
              ))}
              {does}
            </span>
          ))}
        </KeyHints>
      </Stack>
      {correcting && ofCorrected && (
        <Correct
          transfer={transfer}
          connection={connection}
          group={ofCorrected}
          reject={correcting.reject}
          start={correcting.start}
          correctedBefore={(numbers) => [...correctedRows].filter((number) => !numbers.has(number)).length}
          columnOf={columnOf}
          reason={reason}
          onClose={() => setCorrecting(undefined)}
        />
      )}
    </Card>
  )
}
