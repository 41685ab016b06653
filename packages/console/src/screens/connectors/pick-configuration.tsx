import { Anchor, Select, Stack } from '@mantine/core'
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
  onPick,
  onAdded,
}: {
  accountId: string
  connectorId: string
  connectorName: string
  /** Undefined: the first one. */
  configurationId: string | undefined
  onPick: (configurationId: string) => void
  /** A configuration without values was added, and picked. */
  onAdded?: (configurationId: string) => void
}) {
  const all = useConfigurations(accountId, connectorId)
  const forbidden = useForbidden('createConnectorConfiguration')
  const [dialog, open] = useDialog()
  if (!all || all.length === 0) return null
  const picked = all.find((one) => one.configurationId === configurationId) ?? all[0]
  const add = !forbidden && (
    <Anchor
      component="button"
      type="button"
      fz="sm"
      w="fit-content"
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
    <Stack gap={6}>
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
      {add}
      {dialog}
    </Stack>
  )
}
