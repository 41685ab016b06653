import { ConnectorError, type ConnectorErrorCode } from '@penstock/connector'

/** Error codes of Kafka's protocol: https://kafka.apache.org/protocol#protocol_error_codes. */
export const kafkaErrors = {
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeader: 6,
  messageTooLarge: 10,
  recordListTooLarge: 18,
  topicAuthorizationFailed: 29,
  clusterAuthorizationFailed: 31,
  unsupportedVersion: 35,
  outOfOrderSequence: 45,
  duplicateSequence: 46,
  invalidProducerEpoch: 47,
  unknownProducerId: 59,
  fencedLeaderEpoch: 74,
  invalidRecord: 87,
} as const

type Meaning = readonly [name: string, code: ConnectorErrorCode, advice: string]

const later = 'It may pass.'
const meanings: Readonly<Record<number, Meaning>> = {
  1: ['OFFSET_OUT_OF_RANGE', 'source_changed', 'Messages are gone. Start a new transfer.'],
  2: ['CORRUPT_MESSAGE', 'connection_lost', 'Messages arrived damaged.'],
  3: ['UNKNOWN_TOPIC_OR_PARTITION', 'object_not_found', 'Check its name, or create it.'],
  5: ['LEADER_NOT_AVAILABLE', 'platform_unavailable', later],
  6: ['NOT_LEADER_OR_FOLLOWER', 'platform_unavailable', later],
  7: ['REQUEST_TIMED_OUT', 'timeout', later],
  8: ['BROKER_NOT_AVAILABLE', 'platform_unavailable', later],
  9: ['REPLICA_NOT_AVAILABLE', 'platform_unavailable', later],
  10: ['MESSAGE_TOO_LARGE', 'batch_too_large', 'Raise max.message.bytes of the topic, or send less in a row.'],
  13: ['NETWORK_EXCEPTION', 'connection_lost', later],
  17: ['INVALID_TOPIC_EXCEPTION', 'invalid_setting', 'This cannot be the name of a topic that is written to.'],
  18: ['RECORD_LIST_TOO_LARGE', 'batch_too_large', 'Raise segment.bytes of the topic.'],
  19: ['NOT_ENOUGH_REPLICAS', 'platform_unavailable', 'Fewer replicas are in sync than min.insync.replicas says.'],
  20: ['NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'platform_unavailable', 'Too few replicas are in sync.'],
  29: ['TOPIC_AUTHORIZATION_FAILED', 'permission_denied', 'Grant the user the operation on this topic.'],
  31: ['CLUSTER_AUTHORIZATION_FAILED', 'permission_denied', 'Grant the user the operation on the cluster.'],
  33: ['UNSUPPORTED_SASL_MECHANISM', 'not_supported', 'Choose a SASL mechanism that the brokers have enabled.'],
  34: ['ILLEGAL_SASL_STATE', 'not_supported', 'This listener of the broker takes no SASL. Use another port.'],
  35: ['UNSUPPORTED_VERSION', 'not_supported', 'It needs Kafka 2.1 or later.'],
  43: ['UNSUPPORTED_FOR_MESSAGE_FORMAT', 'not_supported', 'Raise the message format of the topic.'],
  44: ['POLICY_VIOLATION', 'permission_denied', 'A policy of the cluster does not allow this.'],
  45: ['OUT_OF_ORDER_SEQUENCE_NUMBER', 'conflict', later],
  47: ['INVALID_PRODUCER_EPOCH', 'conflict', later],
  56: ['KAFKA_STORAGE_ERROR', 'platform_error', 'Look at the disks of the broker.'],
  58: ['SASL_AUTHENTICATION_FAILED', 'invalid_credentials', 'Save a valid user and password in the connector.'],
  59: ['UNKNOWN_PRODUCER_ID', 'conflict', later],
  74: ['FENCED_LEADER_EPOCH', 'platform_unavailable', later],
  75: ['UNKNOWN_LEADER_EPOCH', 'platform_unavailable', later],
  76: ['UNSUPPORTED_COMPRESSION_TYPE', 'not_supported', 'Choose another compression.'],
  78: ['OFFSET_NOT_AVAILABLE', 'platform_unavailable', later],
  87: ['INVALID_RECORD', 'invalid_batch', 'The broker does not accept the message.'],
  89: ['THROTTLING_QUOTA_EXCEEDED', 'rate_limited', later],
}

/**
 * The error for an error code of a broker.
 * @param what was refused, for the message: `writing to the topic orders (WRITE)`
 */
export function errorOfCode(code: number, what: string): ConnectorError {
  const [name, meaning, advice] = meanings[code] ?? [
    `error ${code}`,
    'request_refused',
    'Check the settings, and the log of the broker.',
  ]
  return new ConnectorError(meaning, `Kafka refused ${what}: ${name}. ${advice}`)
}

/** A message cannot be read. */
export const unreadable = (host: string, cause?: unknown): ConnectorError =>
  new ConnectorError(
    'wrong_protocol',
    `${host} does not speak the protocol of Kafka; check the address and the port.`,
    {
      cause,
    },
  )
