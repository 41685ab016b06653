import { Anchor, Select, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { connectors as say } from '../../strings/connectors.ts'
import { AddConfiguration } from './name-configuration.tsx'
import { useConfigurations } from './of-account.ts'

/** Picks one of the configurations of a connector, such as that of a side of a connection; if there is only one, another can be added. */
export function PickConfiguration({
  accountId,
  connectorId,
  connectorName,
  configurationId,
  asksNothing = false,
  onPick,
  onAdded,
  children,
}: {
  accountId: string
  connectorId: string
  connectorName: string
  /** Undefined: the first one. */
  configurationId: string | undefined
  /** Whether a configuration has no values, so that one is enough. */
  asksNothing?: boolean
  onPick: (configurationId: string) => void
  /** A configuration without values was added, and picked. */
  onAdded?: (configurationId: string) => void
  /** The configuration that is picked, and what can be done with it. */
  children?: ReactNode
}) {
  const all = useConfigurations(accountId, connectorId)
  const forbidden = useForbidden('createConnectorConfiguration')
  const [dialog, open] = useDialog()
  if (!all || all.length === 0) return children
  const picked = all.find((one) => one.configurationId === configurationId) ?? all[0]
  // The first one is configured before another is of use.
  const add = !forbidden && !asksNothing && all.some(({ configured }) => configured) && (
    <Anchor
      component="button"
      type="button"
      fz="sm"
      w="fit-content"
      mt={-8}
      onClick={() =>
        open((close) => (
          <AddConfiguration
            accountId={accountId}
            connectorId={connectorId}
            connectorName={connectorName}
            onMade={(id) => {
              onPick(id)
              onAdded?.(id)
            }}
            onClose={close}
          />
        ))
      }
    >
      {say.addAnother}
    </Anchor>
  )
  return (
    <Stack gap="lg">
      {all.length > 1 && (
        <Select
          label={say.configurationOf(connectorName)}
          allowDeselect={false}
          value={picked?.configurationId ?? null}
          data={all.map((one) => ({
            value: one.configurationId,
            label: one.configured ? one.name : say.isNotConfigured(one.name),
          }))}
          onChange={(value) => value !== null && onPick(value)}
        />
      )}
      {children}
      {add}
      {dialog}
    </Stack>
  )
}
