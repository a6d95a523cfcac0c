package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafNone;

public class SleepNone extends BaseLeafNone {
    @IceField(name = "ms")
    public long ms;

    @Override
    protected void doNone(IceRoam roam) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while sleeping", e);
        }
    }
}
