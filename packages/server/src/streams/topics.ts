/** Topic of the notices that events were committed. The value is the stream. */
export const eventsTopic = 'stream-events'
/** Topic of the notices that a write key was created or deleted. The value is the stream. */
export const streamTopic = 'stream'
