import { Text } from '@mantine/core'
import { useState } from 'react'
import { Failure } from '../../../components/failure.tsx'
import { ReasonedButton } from '../../../components/reasoned.tsx'
import { SelectionBar } from '../../../components/selection-bar.tsx'
import { connectionSet as say } from '../../../strings/connection-set.ts'
import { configurationKey, useWizard } from '../wizard.ts'
import { freeTag } from './free-tag.ts'
import { pendingTarget, writeTargets } from './targets.ts'
import { useTargetNames } from './use-target-names.ts'

/** The destinations that were selected, and the way on. One destination is no set. @param sourceName names the set */
export function PickedTargets({ sourceName }: { sourceName: string }) {
  const { accountId, targets, set, setText, go } = useWizard()
  const nameOf = useTargetNames()
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const next = async () => {
    const first = pendingTarget(targets)
    if (!first) return
    const { connectorId, configurationId } = first
    if (targets.length === 1) {
      setText(configurationKey('destination', connectorId), configurationId)
      return go('settings', { destination: connectorId, targets: '', set: '' })
    }
    setBusy(true)
    setFailure(undefined)
    try {
      const tag = set || (await freeTag(accountId, sourceName))
      go('settings', { destination: connectorId, targets: writeTargets(targets), set: tag })
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {failure !== undefined && <Failure error={failure} />}
      <SelectionBar label={say.picked}>
        <Text size="sm" role="status" miw={0} flex="1 1 200px" style={{ overflowWrap: 'anywhere' }}>
          {targets.map(nameOf).join(', ') || say.nonePicked}
        </Text>
        <ReasonedButton
          reason={pendingTarget(targets) ? undefined : say.nonePicked}
          loading={isBusy}
          onClick={() => void next()}
        >
          {say.next(targets.length)}
        </ReasonedButton>
      </SelectionBar>
    </>
  )
}
