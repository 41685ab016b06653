import { Checkbox, Group, Select, Stack, Text } from '@mantine/core'
import {
  type ErasedAtDestination,
  type ErasureDestination,
  limits,
  type PersonIdentifierKind,
  personIdentifiers,
} from '@penstock/wire'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { describe } from '../../components/describe.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { DataTable } from '../../components/resource-table.tsx'
import { Section } from '../../components/section.tsx'
import { erasure as say } from '../../strings/data-subjects.ts'

type Identifier = { readonly kind: PersonIdentifierKind; readonly value: string }
/** The answer of a destination; a text: why nothing is known. */
type Outcome = ErasedAtDestination | string

const keyOf = ({ configurationId }: ErasureDestination) => configurationId
const canErase = ({ kinds }: ErasureDestination) => kinds.length > 0

/** The destinations of a sub-account, and the erasure of a person at their platforms. */
export function AtDestinations({ accountId, values }: { accountId: string; values: readonly string[] }) {
  const query = { size: limits.pageSizeMax }
  const list = useRead('listErasureDestinations', { accountId, query })
  const write = useWrite('eraseAtDestination')
  const forbidden = useForbidden('eraseAtDestination')
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, Outcome>>>({})
  const [dialog, open] = useDialog()
  const ask = async (destinations: readonly ErasureDestination[], identifiers: readonly Identifier[]) => {
    for (const one of destinations) {
      const { connectorId: id, configurationId, kinds } = one
      const accepted = identifiers.filter(({ kind }) => kinds.includes(kind))
      const asked =
        accepted.length === 0
          ? say.noIdentifier
          : await write
              .mutateAsync({ accountId, id, query: { configurationId }, body: { identifiers: accepted } })
              .then(
                ({ reply }) => reply,
                (error: unknown) => say.unknownBecause(describe(error).title),
              )
      setOutcomes((known) => ({ ...known, [keyOf(one)]: asked }))
    }
  }
  return (
    <Loaded query={list}>
      {({ reply, total }) => {
        const reachable = reply.filter(canErase)
        const reason = forbidden ?? (reachable.length === 0 ? say.noneReachable : undefined)
        return (
          <Section
            title={say.title}
            help={total > reply.length ? say.more(total - reply.length) : say.help}
            action={
              <ReasonedButton
                color="red"
                reason={reason}
                onClick={() =>
                  open((close) => <Ask destinations={reachable} values={values} onConfirm={ask} onClose={close} />)
                }
              >
                {say.erase}
              </ReasonedButton>
            }
          >
            {reply.length === 0 ? (
              <Text size="sm">{say.none}</Text>
            ) : (
              <DataTable
                label={say.title}
                top
                rows={reply}
                keyOf={keyOf}
                columns={[
                  { header: say.destination, w: '30%', wraps: true, cell: nameOf },
                  {
                    header: say.deletes,
                    wraps: true,
                    cell: (one) => <Text size="sm">{one.deletes ?? say.byHand}</Text>,
                  },
                  {
                    header: say.result,
                    w: '30%',
                    wraps: true,
                    cell: (one) => <Result of={outcomes[keyOf(one)]} />,
                  },
                ]}
              />
            )}
            {dialog}
          </Section>
        )
      }}
    </Loaded>
  )
}

const nameOf = ({ connectorName, configurationName }: ErasureDestination) => say.named(connectorName, configurationName)

/** Shows what is deleted where, and asks. */
function Ask({
  destinations,
  values,
  onConfirm,
  onClose,
}: {
  destinations: readonly ErasureDestination[]
  values: readonly string[]
  onConfirm: (destinations: readonly ErasureDestination[], identifiers: readonly Identifier[]) => Promise<void>
  onClose: () => void
}) {
  const [identifiers, setIdentifiers] = useState<readonly Identifier[]>(
    values.map((value) => ({ kind: kindOf(value), value })),
  )
  const [left, setLeft] = useState<readonly string[]>([])
  const chosen = destinations.filter((one) => !left.includes(keyOf(one)))
  return (
    <Confirm
      title={say.askTitle}
      action={say.askAction(chosen.length)}
      onConfirm={() => onConfirm(chosen, identifiers)}
      onClose={onClose}
    >
      <Stack gap="md">
        <span>{say.askHelp}</span>
        {identifiers.map(({ kind, value }, at) => (
          <Group key={value} gap="sm" wrap="nowrap">
            <Select
              aria-label={say.kindOf(value)}
              w={190}
              allowDeselect={false}
              data={personIdentifiers.map((one) => ({ value: one, label: say.kinds[one] }))}
              value={kind}
              onChange={(next) => next && setIdentifiers(identifiers.with(at, { kind: next, value }))}
            />
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Text>
          </Group>
        ))}
        {destinations.map((one) => {
          const used = identifiers.filter(({ kind }) => one.kinds.includes(kind)).map(({ value }) => value)
          return (
            <Checkbox
              key={keyOf(one)}
              checked={chosen.includes(one)}
              onChange={() =>
                setLeft(chosen.includes(one) ? [...left, keyOf(one)] : left.filter((key) => key !== keyOf(one)))
              }
              label={nameOf(one)}
              description={`${one.deletes} ${used.length > 0 ? say.usedBy(used.join(', ')) : say.noIdentifier}`}
            />
          )
        })}
      </Stack>
    </Confirm>
  )
}

/** The likely kind of a value: a number in another form than E.164 is an ID. */
function kindOf(value: string): PersonIdentifierKind {
  if (value.includes('@')) return 'email'
  return /^\+\d[\d ()-]*$/.test(value) ? 'phone' : 'externalId'
}

function Result({ of }: { of: Outcome | undefined }) {
  if (of === undefined) return null
  if (typeof of === 'string') return <Text size="sm">{of}</Text>
  return (
    <Stack gap={4} role="status">
      {of.error && <Text size="sm">{of.error.message}</Text>}
      {of.results.map(({ value, outcome, reason }) => (
        <Text key={value} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {say.outcome(value, outcome)} {reason}
        </Text>
      ))}
    </Stack>
  )
}
